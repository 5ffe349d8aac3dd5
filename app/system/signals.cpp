#include "system/process.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// A signal handler may only unlink these.
struct UnfinishedPlace {
  std::atomic<bool> is_taken;
  std::atomic<const char*> name;
};
std::array<UnfinishedPlace, UnfinishedFile::kMost> unfinished_places{};
static_assert(std::atomic<const char*>::is_always_lock_free);

constexpr int kInterruptions[] = {SIGINT, SIGTERM, SIGHUP};
// These end the program as if unhandled: the caller may want a core dump, or to learn of a limit.
constexpr int kOtherEndings[] = {SIGQUIT,   SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2,
                                 SIGABRT,   SIGSEGV, SIGBUS,  SIGFPE,    SIGILL,  SIGTRAP, SIGSYS,
#ifdef SIGPWR
                                 SIGPWR,
#endif
#ifdef SIGSTKFLT
                                 SIGSTKFLT,
#endif
                                 SIGPOLL};

// State of Interruption.
std::atomic<bool> is_patient{false};
std::atomic<bool> is_interrupted{false};
std::atomic<std::int64_t> interrupted_at{0};  // seconds
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Stopping a group of processes often sends the signal twice at once; that counts as one.
bool is_first_interruption() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!is_interrupted.exchange(true)) {
    interrupted_at.store(now.tv_sec);
    return true;
  }
  return now.tv_sec - interrupted_at.load() <= 1;
}

void remove_unfinished() noexcept {
  erase_progress_line();
  for (const UnfinishedPlace& place : unfinished_places) {
    if (const char* const name = place.name.load()) {
      unlink(name);
    }
  }
}

extern "C" void end_interrupted(int) {
  if (is_patient.load() && is_first_interruption()) {
    return;
  }
  remove_unfinished();
  constexpr int kInterrupted = 130;
  _exit(kInterrupted);
}

// Prints a line on standard error without the memory that warn() would need.
void print_file_error(const char* name, std::string_view what) noexcept {
  for (const std::string_view part :
       {std::string_view("attnviz: "), std::string_view(name), what, std::string_view("\n")}) {
    write_all(STDERR_FILENO, part);
  }
}

extern "C" void end_by_signal(int signal, siginfo_t* info, void*) {
  static std::atomic<bool> is_ending{false};
  while (is_ending.exchange(true)) {
    pause();  // another thread ends the program
  }
  remove_unfinished();
  // Also covers disk failures, which cannot be distinguished.
  const char* const name = signal == SIGBUS ? mapped_file_at(info->si_addr) : nullptr;
  if (name != nullptr) {
    print_file_error(name, kBecameShorter);
    _exit(static_cast<int>(ErrorKind::kIo));
  }
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  std::raise(signal);  // takes effect when this returns
}

// Leaves signals alone that the caller ignores, as nohup does, or that a sanitizer handles.
void handle_unless_set(int signal, const struct sigaction& action) noexcept {
  struct sigaction inherited {};
  sigaction(signal, nullptr, &inherited);
  if ((inherited.sa_flags & SA_SIGINFO) == 0 && inherited.sa_handler == SIG_DFL) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction interruption {};
  interruption.sa_handler = end_interrupted;
  for (const int signal : kInterruptions) {
    handle_unless_set(signal, interruption);
  }
  struct sigaction ending {};
  ending.sa_sigaction = end_by_signal;
  ending.sa_flags = SA_SIGINFO;
  sigfillset(&ending.sa_mask);  // a fault in the handler ends the program at once
  for (const int signal : kOtherEndings) {
    handle_unless_set(signal, ending);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    handle_unless_set(signal, ending);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    std::signal(signal, SIG_IGN);  // NOLINT(cert-err33-c): these may always be ignored
  }
}

void end_out_of_memory() noexcept {
  const SignalsHeld held;
  remove_unfinished();
  write_all(STDERR_FILENO, "attnviz: ");
  write_all(STDERR_FILENO, out_of_memory());
  write_all(STDERR_FILENO, "\n");
  _exit(static_cast<int>(ErrorKind::kIo));
}

void end_without_memory() {
  std::set_new_handler(end_out_of_memory);
}

Interruption::Interruption() noexcept {
  is_interrupted.store(false);
  is_patient.store(true);
}

Interruption::~Interruption() {
  is_patient.store(false);
}

bool Interruption::is_requested() const noexcept {
  return is_interrupted.load();
}

bool wait_to_read(int fd) noexcept {
  if (!is_patient.load()) {
    return true;
  }
  sigset_t usual;
  pthread_sigmask(SIG_SETMASK, nullptr, &usual);
  const SignalsHeld held;  // a signal between check and wait would be missed
  while (!is_interrupted.load()) {
    pollfd waited = {fd, POLLIN, 0};
    if (ppoll(&waited, 1, nullptr, &usual) >= 0 || errno != EINTR) {
      return true;
    }
  }
  return false;
}

UnfinishedFile::UnfinishedFile() {
  while (place_ < kMost && unfinished_places[place_].is_taken.exchange(true)) {
    ++place_;
  }
  if (place_ == kMost) {
    throw Error(ErrorKind::kUsage, fmt::format("at most {} output files at once", kMost));
  }
}

UnfinishedFile::~UnfinishedFile() {
  unfinished_places[place_].name.store(nullptr);
  unfinished_places[place_].is_taken.store(false);
}

void UnfinishedFile::is(const char* name) noexcept {
  unfinished_places[place_].name.store(name);
}

}  // namespace attnviz::app
