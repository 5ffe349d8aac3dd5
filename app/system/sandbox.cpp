#include "system/process.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "system/output_file.h"

// Not with sanitizers, which trace at exit, or coverage, which writes beside the build.
#if defined(__linux__) && !defined(ATTNVIZ_IS_INSTRUMENTED) && \
    __has_include(<linux/landlock.h>) && __has_include(<linux/seccomp.h>)
#define ATTNVIZ_HAS_SANDBOX_HEADERS 1
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attnviz::app {

#ifdef ATTNVIZ_HAS_SANDBOX_HEADERS

namespace {

namespace fs = std::filesystem;

// Machines on which the numbers of system calls are known to match the headers.
#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kFirstOfOtherSizes = 0x40000000;  // x32, with other pointer sizes
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kFirstOfOtherSizes = UINT32_MAX;
#else
constexpr std::uint32_t kMachine = 0;
constexpr std::uint32_t kFirstOfOtherSizes = UINT32_MAX;
#endif

// Sockets, other programs, other processes and new ways into the kernel. io_uring would perform the
// forbidden calls for a process. The list is short, because the kernel tries the filter for each
// call number when it is installed. Calls that are forbidden only for certain arguments follow
// below.
constexpr std::array kForbidden = {SYS_socket,
                                   SYS_socketpair,
                                   SYS_connect,
                                   SYS_io_uring_setup,
                                   SYS_execve,
                                   SYS_execveat,
                                   SYS_ptrace,
                                   SYS_process_vm_readv,
                                   SYS_process_vm_writev,
                                   SYS_pidfd_getfd,
                                   SYS_kill,
                                   SYS_bpf,
                                   SYS_perf_event_open,
                                   SYS_userfaultfd,
                                   SYS_keyctl,
                                   SYS_unshare,
                                   SYS_setns,
                                   SYS_tkill,
                                   SYS_rt_sigqueueinfo,
                                   SYS_rt_tgsigqueueinfo,
                                   SYS_pidfd_send_signal};

// Two of these type into the terminal as if the user did, who may have a shell there. The others
// make descriptors send signals to another process.
constexpr std::array<std::uint32_t, 4> kForbiddenRequests = {TIOCSTI, TIOCLINUX, FIOSETOWN,
                                                             SIOCSPGRP};
constexpr std::array<std::uint32_t, 3> kForbiddenOfDescriptors = {F_SETOWN, F_SETSIG, F_SETOWN_EX};

// The filter as a program that the kernel runs at each system call. Refused calls return an error,
// which libraries (the C library, for example) can handle.
std::vector<sock_filter> filter_of_calls() {
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  // The lower half of an argument: descriptors and requests fit in it.
  constexpr std::size_t kFirstArgument =
      offsetof(seccomp_data, args) +
      (std::endian::native == std::endian::little ? 0 : sizeof(std::uint32_t));
  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  const sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, kRefuse);
  std::vector<sock_filter> filter = {load(offsetof(seccomp_data, arch)),
                                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
                                     refuse,
                                     load(offsetof(seccomp_data, nr)),
                                     BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstOfOtherSizes, 0, 1),
                                     refuse};
  for (const long call : kForbidden) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(refuse);
  }
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  // Restricts a call by one argument, given by its index: to `values`, or to all others.
  const auto judge = [&](long call, std::size_t argument, std::span<const std::uint32_t> values,
                         bool are_allowed) {
    const auto n = static_cast<std::uint8_t>(2 * values.size() + 2);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, n));
    filter.push_back(load(kFirstArgument + argument * sizeof(std::uint64_t)));
    for (const std::uint32_t value : values) {
      filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
      filter.push_back(are_allowed ? allow : refuse);
    }
    filter.push_back(are_allowed ? refuse : allow);
  };
  const std::uint32_t self[] = {static_cast<std::uint32_t>(getpid()), 0};
  judge(SYS_tgkill, 0, std::span(self).first(1), true);  // abort() needs it
  judge(SYS_prlimit64, 0, self, true);                   // a time limit could end another process
  judge(SYS_ioctl, 1, kForbiddenRequests, false);
  judge(SYS_fcntl, 1, kForbiddenOfDescriptors, false);
  filter.push_back(allow);
  return filter;
}

bool forbid_calls() {
  if (kMachine == 0) {
    errno = ENOSYS;
    return false;
  }
  std::vector<sock_filter> filter = filter_of_calls();
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  // Older kernels would slow down a filtered process unless this flag is set; the oldest do not
  // know the flag.
  for (const unsigned flags : {unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW}, 0U}) {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) {
      return true;
    }
  }
  return false;
}

constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;  // newer than some headers

// The rights that this version of Landlock can forbid: an unknown right would be an error.
std::uint64_t forbidden_rights(long version) noexcept {
  const std::uint64_t first =
      LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
      LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
      LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
      LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  return first | (version >= 3 ? kTruncate : 0);
}

// Allows writing to a file, or to everything below a folder. Skips missing paths: opening them
// reports why.
void allow_writing(int rules, const fs::path& path, std::uint64_t known) {
  const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  struct stat info {};
  if (fd >= 0 && fstat(fd, &info) == 0) {
    const std::uint64_t of_files = LANDLOCK_ACCESS_FS_WRITE_FILE | (known & kTruncate);
    const std::uint64_t of_folders =
        of_files | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE;
    const landlock_path_beneath_attr rule = {S_ISDIR(info.st_mode) ? of_folders : of_files, fd};
    // Fails for pipes, which are not on a restricted file system.
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  }
  if (fd >= 0) {
    close(fd);
  }
}

bool forbid_writing_elsewhere(std::span<const fs::path> outputs,
                              std::span<const fs::path> folders) {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) {
    return false;
  }
  landlock_ruleset_attr forbidden = {};
  forbidden.handled_access_fs = forbidden_rights(version);
  const auto rules = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &forbidden, sizeof forbidden.handled_access_fs, 0));
  if (rules < 0) {
    return false;
  }
  for (const fs::path& output : outputs) {
    const fs::path folder = follow_links(output).parent_path();
    allow_writing(rules, folder.empty() ? "." : folder, forbidden.handled_access_fs);
    allow_writing(rules, output, forbidden.handled_access_fs);
  }
  for (const fs::path& folder : folders) {
    allow_writing(rules, folder, forbidden.handled_access_fs);
  }
  const bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  const int error = errno;
  close(rules);
  errno = error;
  return done;
}

}  // namespace

std::string enter_sandbox(std::span<const fs::path> outputs, std::span<const fs::path> folders) {
  const auto problem = [](const char* what) {
    return std::string(what) + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  };
  // Otherwise only an administrator may give up rights.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return problem("the program runs with all rights");
  }
  std::string problems;
  if (!forbid_writing_elsewhere(outputs, folders)) {
    problems = problem("the program can still write anywhere (Landlock is missing)");
  }
  if (!forbid_calls()) {
    problems += (problems.empty() ? "" : "; ") +
                problem("the program can still open sockets (seccomp is missing)");
  }
  return problems;
}

#else

std::string enter_sandbox(std::span<const std::filesystem::path> /*outputs*/,
                          std::span<const std::filesystem::path> /*folders*/) {
  return "this build cannot give up rights";
}

#endif

}  // namespace attnviz::app
