#include "support/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "support/sanitized.h"

namespace attnviz::test {

namespace {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Channel {
  Descriptor ours;
  Descriptor theirs;
};

Channel make_pipe(bool we_read) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe2 failed");
  }
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  return we_read ? Channel{std::move(reader), std::move(writer)}
                 : Channel{std::move(writer), std::move(reader)};
}

Channel make_terminal(std::size_t columns) {
  int ours = -1;
  int theirs = -1;
  winsize size{};
  size.ws_row = 50;
  size.ws_col = static_cast<unsigned short>(columns);
  if (openpty(&ours, &theirs, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error("openpty failed");
  }
  fcntl(ours, F_SETFD, FD_CLOEXEC);
  fcntl(theirs, F_SETFD, FD_CLOEXEC);
  return {Descriptor(ours), Descriptor(theirs)};
}

std::vector<std::string> environment_of(const ProgramRun& run) {
  std::vector<std::string> lines;
  // The environment tells sanitizers and coverage where to report.
  for (const char* name :
       {"PATH", "HOME", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const char* value = run.environment.contains(name) ? nullptr : std::getenv(name);
    if (value != nullptr) {
      lines.push_back(std::string(name).append("=").append(value));
    }
  }
  for (const auto& [name, value] : run.environment) {
    lines.push_back(std::string(name).append("=").append(value));
  }
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child, between fork and exec.
[[noreturn]] void start(const ProgramRun& run, const char* program, char* const* arguments,
                        char* const* environment, std::array<int, 3> standard) {
  constexpr int kNotStarted = 127;
  for (int fd = 0; fd < 3; ++fd) {
    dup2(standard[static_cast<std::size_t>(fd)], fd);
  }
  for (const int fd : run.closed_streams) {
    close(fd);
  }
  if (!run.folder.empty() && chdir(run.folder.c_str()) != 0) {
    _exit(kNotStarted);
  }
  if (run.memory_limit > 0) {
    const rlimit limit{run.memory_limit, run.memory_limit};
    setrlimit(RLIMIT_AS, &limit);
  }
  // A shell makes background processes ignore some signals, which tests would then lack.
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    std::signal(signal, SIG_DFL);
  }
  execve(program, arguments, environment);
  _exit(kNotStarted);
}

// What a program that does not end is doing, one line per thread, to help find the reason.
std::string state_of(pid_t program) {
  std::string all;
  std::error_code gone;
  const auto threads = "/proc/" + std::to_string(program) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, gone)) {
    all += '\n' + thread.path().filename().string() + ':';
    std::string line;
    for (const char* name : {"syscall", "wchan"}) {
      std::ifstream file(thread.path() / name);
      std::getline(file, line);
      all += ' ' + line;
    }
    std::ifstream status(thread.path() / "status");
    while (std::getline(status, line)) {
      if (line.starts_with("State:") || line.starts_with("Sig") || line.starts_with("ShdPnd:")) {
        all += ' ' + line;
      }
    }
  }
  return all;
}

// Feeds and reads a running program until it has closed everything.
class Conversation {
 public:
  Conversation(const ProgramRun& run, pid_t child, Descriptor in, Descriptor out, Descriptor err)
      : run_(run), child_(child), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {
    if (in_.get() >= 0) {
      fcntl(in_.get(), F_SETFL, O_NONBLOCK);
    }
  }

  ProgramResult finish() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (out_.get() >= 0 || err_.get() >= 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        const std::string state = state_of(child_);
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        constexpr std::size_t kSaid = 500;
        throw std::runtime_error("the program did not end within a minute; of output it wrote " +
                                 std::to_string(result_.out.size()) + " bytes, and said \"" +
                                 result_.err.substr(0, kSaid) + '"' + state);
      }
      step();
    }
    int status = 0;
    waitpid(child_, &status, 0);
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return std::move(result_);
  }

 private:
  void step() {
    const bool has_input = run_.keys.empty() || fed_ < run_.input.size();
    std::array<pollfd, 3> polled = {{{has_input ? in_.get() : -1, POLLOUT, 0},
                                     {out_.get(), POLLIN, 0},
                                     {err_.get(), POLLIN, 0}}};
    constexpr int kMilliseconds = 1000;
    const bool is_idle = poll(polled.data(), polled.size(), kMilliseconds) == 0;
    if (polled[0].revents != 0) {
      feed();
    }
    if (polled[1].revents != 0) {
      read_some(out_, result_.out);
      if (run_.stdout_limit && result_.out.size() >= *run_.stdout_limit) {
        out_.reset();
      }
    }
    if (polled[2].revents != 0) {
      read_some(err_, result_.err);
    }
    type_keys();
    // If a signal arrives between the entry of the thread sanitizer's read() and the system's, the
    // sanitizer holds it until the program's next call, and read() waits for ever: only another
    // signal helps.
    const bool is_due = !signalled_ || (kSanitized && is_idle);
    if (run_.signal_after_output != 0 && is_due && !result_.out.empty()) {
      kill(child_, run_.signal_after_output);
      signalled_ = true;
    }
  }

  // Each once its prompt has appeared. The terminal stays open after the last.
  void type_keys() {
    for (std::size_t at = 0; n_typed_ < run_.keys.size() &&
                             (at = result_.out.find(run_.prompt, n_answered_)) != std::string::npos;
         ++n_typed_) {
      n_answered_ = at + run_.prompt.size();
      const std::string& keys = run_.keys[n_typed_];
      [[maybe_unused]] const auto typed = ::write(in_.get(), keys.data(), keys.size());
    }
  }

  void feed() {
    const ssize_t count = ::write(in_.get(), run_.input.data() + fed_, run_.input.size() - fed_);
    fed_ += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    const bool is_broken = count < 0 && errno != EAGAIN;
    if (run_.keys.empty() && (is_broken || fed_ == run_.input.size())) {
      if (run_.signal_after_output != 0) {
        waiting_ = std::move(in_);  // open until the program ends
        in_ = Descriptor();
      } else {
        in_.reset();
      }
    }
  }

  static void read_some(Descriptor& from, std::string& into) {
    std::array<char, 65536> chunk{};
    const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
    if (count > 0) {
      into.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {  // a terminal ends with EIO
      from.reset();
    }
  }

  const ProgramRun& run_;
  pid_t child_;
  Descriptor in_;
  Descriptor waiting_;
  Descriptor out_;
  Descriptor err_;
  std::size_t fed_ = 0;
  std::size_t n_typed_ = 0;     // keys
  std::size_t n_answered_ = 0;  // bytes of output
  bool signalled_ = false;
  ProgramResult result_;
};

}  // namespace

ProgramResult run_program(const std::filesystem::path& program, const ProgramRun& run) {
  std::signal(SIGPIPE, SIG_IGN);
  Channel in = make_pipe(/*we_read=*/false);
  Channel out = run.tty_columns ? make_terminal(*run.tty_columns) : make_pipe(/*we_read=*/true);
  Channel err = make_pipe(/*we_read=*/true);
  if (run.stdout_path) {
    out = Channel{Descriptor(),
                  Descriptor(open(run.stdout_path->c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644))};
  }
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  auto lines = environment_of(run);
  const auto arguments = pointers_to(words);
  const auto environment = pointers_to(lines);
  const int stdin_fd = run.stdin_is_tty ? out.theirs.get() : in.theirs.get();
  const int stderr_fd = run.stderr_is_tty ? out.theirs.get() : err.theirs.get();
  const std::array<int, 3> standard = {stdin_fd, out.theirs.get(), stderr_fd};
  const pid_t child = fork();
  if (child == 0) {
    start(run, program.c_str(), arguments.data(), environment.data(), standard);
  }
  if (child < 0) {
    throw std::runtime_error("fork failed");
  }
  if (run.stdin_is_tty && !(run.input.empty() && run.keys.empty())) {
    in.ours = Descriptor(fcntl(out.ours.get(), F_DUPFD_CLOEXEC, 0));  // where keys are typed
  }
  in.theirs.reset();
  out.theirs.reset();
  err.theirs.reset();
  return Conversation(run, child, std::move(in.ours), std::move(out.ours), std::move(err.ours))
      .finish();
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "attnviz-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("mkdtemp failed");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
}

}  // namespace attnviz::test
