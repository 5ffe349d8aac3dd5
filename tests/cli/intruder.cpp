// Loaded into the program before its libraries: at its first words for standard output it tries
// what a taken-over program would, and says on standard error how each attempt ended.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void report(const char* attempt, long result) {
  const int error = errno;
  char line[256];
  const int size = std::snprintf(line, sizeof line, "%s: %s\n", attempt,
                                 result < 0 ? std::strerror(error) : "done");
  syscall(SYS_write, STDERR_FILENO, line, static_cast<std::size_t>(size));
}

void intrude() {
  report("internet socket", socket(AF_INET, SOCK_STREAM, 0));
  report("local socket", socket(AF_UNIX, SOCK_STREAM, 0));
  report("ring", syscall(SYS_io_uring_setup, 1, nullptr));
  report("tracing", ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr));
  report("signal", kill(getppid(), SIGCONT));
  report("signal to a thread", syscall(SYS_tgkill, getppid(), getppid(), SIGCONT));
  report("signal to itself", syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGCONT));
  rlimit limits{};
  report("limits of another", prlimit(getppid(), RLIMIT_CPU, nullptr, &limits));
  report("limits of itself", prlimit(0, RLIMIT_CPU, nullptr, &limits));
  report("owner of a descriptor", fcntl(STDERR_FILENO, F_SETOWN, getppid()));
  report("signal of a descriptor", fcntl(STDERR_FILENO, F_SETSIG, SIGCONT));
  int parent = getppid();
  report("owner by request", ioctl(STDERR_FILENO, FIOSETOWN, &parent));
  report("typing", ioctl(STDERR_FILENO, TIOCSTI, "x"));
  char program[] = "/bin/true";
  char* const arguments[] = {program, nullptr};
  report("program", execv(program, arguments));
  if (const char* file = std::getenv("ATTNVIZ_INTRUDER_CREATES")) {
    report("new file", open(file, O_WRONLY | O_CREAT | O_EXCL, 0600));
  }
  if (const char* file = std::getenv("ATTNVIZ_INTRUDER_CHANGES")) {
    report("old file", open(file, O_WRONLY | O_APPEND));
    report("cut", truncate(file, 0));
    report("removal", unlink(file));
  }
}

}  // namespace

extern "C" ssize_t write(int fd, const void* bytes, std::size_t size) {
  static bool has_tried = false;
  if (fd == STDOUT_FILENO && !has_tried) {
    has_tried = true;
    intrude();
  }
  return syscall(SYS_write, fd, bytes, size);
}
