#include "outputs/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "attnviz/core/error.h"
#include "system/keys.h"
#include "system/progress_line.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// Names of temporary files, for the signal handler: it may do no more than unlink them.
constexpr std::size_t kMostFiles = 16;
std::array<std::atomic<const char*>, kMostFiles> unfinished_files{};
static_assert(std::atomic<const char*>::is_always_lock_free);

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

// Of Interruption.
std::atomic<bool> is_patient{false};
std::atomic<bool> is_interrupted{false};
std::atomic<std::int64_t> interrupted_at{0};  // seconds
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Whoever stops a group of processes often sends the signal twice at once; that is one.
bool is_first_interruption() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!is_interrupted.exchange(true)) {
    interrupted_at.store(now.tv_sec);
    return true;
  }
  return now.tv_sec - interrupted_at.load() <= 1;
}

extern "C" void remove_unfinished_files_and_exit(int) {
  if (is_patient.load() && is_first_interruption()) {
    return;
  }
  erase_progress_line();
  restore_terminal();
  for (const auto& name : unfinished_files) {
    if (const char* path = name.load()) {
      unlink(path);
    }
  }
  constexpr int kInterrupted = 130;
  _exit(kInterrupted);
}

// While it lives, the signals that end the program wait.
class SignalsHeld {
 public:
  SignalsHeld() noexcept {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kEndingSignals) {
      sigaddset(&held, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(ErrorKind::kIo, fmt::format("{}: cannot write: {}", path.string(),
                                          std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
}

// 0, or the error that stopped it.
int write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// Follows links by hand: the last one may name a file that does not exist yet.
fs::path follow_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as Linux: more is a loop
  std::error_code error;
  for (int links = 0; fs::is_symlink(path, error); ++links) {
    if (links == kMostLinks) {
      fail(path, ELOOP);
    }
    const fs::path next = fs::read_symlink(path, error);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = remove_unfinished_files_and_exit;
  for (const int signal : kEndingSignals) {
    struct sigaction inherited {};
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) {  // nohup and background jobs stay as they are
      sigaction(signal, &action, nullptr);
    }
  }
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): SIGPIPE may always be ignored
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

void reserve_standard_streams() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) {
      // Takes the lowest free number, which is this one. The wrong way round, so that use fails.
      [[maybe_unused]] const int reserved =
          open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

void write_to_stdout(std::string_view bytes) {
  const int error = write_all(STDOUT_FILENO, bytes);
  if (error == EPIPE) {
    throw ClosedPipe{};
  }
  if (error != 0) {
    fail("standard output", error);
  }
}

void refuse_to_overwrite(std::string_view option, const fs::path& name, const fs::path& read) {
  std::error_code ignored;  // what does not exist is not overwritten
  if (fs::is_regular_file(name, ignored) && fs::equivalent(name, read, ignored)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} {}: is read, and would be overwritten", option, name.string()));
  }
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    fail(path, EISDIR);
  }
  // /dev/stdout and /dev/fd/N are links to what is open, which may be a file: not to be replaced.
  const bool is_open_file = exists && path.native().starts_with("/dev/") && fs::is_symlink(path);
  if (exists && (!S_ISREG(info.st_mode) || is_open_file)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) {
      fail(path_, errno);
    }
    return;
  }
  if (exists && access(path.c_str(), W_OK) != 0) {  // a rename would replace it all the same
    fail(path_, errno);
  }
  target_ = follow_links(path);
  open_beside_target();
  if (exists) {
    // A replaced file keeps its permissions; failing that, the new one's are good enough.
    [[maybe_unused]] const int changed = fchmod(fd_, info.st_mode & 07777);
  }
}

void OutputFile::open_beside_target() {
  while (slot_ < kMostFiles && unfinished_files[slot_].load() != nullptr) {
    ++slot_;
  }
  if (slot_ == kMostFiles) {
    throw Error(ErrorKind::kUsage, fmt::format("at most {} output files at once", kMostFiles));
  }
  if (!target_.has_filename()) {
    fail(path_, EISDIR);
  }
  constexpr int kMostNames = 1000;
  constexpr mode_t kMode = 0666;  // the system takes away what the umask forbids
  const SignalsHeld held;         // a signal between open and store would leave the file behind
  for (int attempt = 0; attempt < kMostNames && fd_ < 0; ++attempt) {
    temporary_ = target_.parent_path() / fmt::format(".attnviz-{}-{}", getpid(), attempt);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (fd_ < 0 && errno != EEXIST) {
      break;
    }
  }
  if (fd_ < 0) {
    fail(path_, errno);
  }
  unfinished_files[slot_].store(temporary_.c_str());
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() noexcept {
  if (fd_ >= 0) {
    close(fd_);
    fd_ = -1;
  }
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    unfinished_files[slot_].store(nullptr);
    temporary_.clear();
  }
}

void OutputFile::write(std::string_view bytes) {
  if (const int error = write_all(fd_, bytes)) {
    fail(path_, error);
  }
}

void OutputFile::commit() {
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) {  // network file systems tell of a full disk only now
    fail(path_, errno);
  }
  if (temporary_.empty()) {
    return;
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail(path_, errno);
  }
  unfinished_files[slot_].store(nullptr);
  temporary_.clear();
}

}  // namespace attnviz::app
