// Bytes as choices: a command with options, and attention JSON for it, which may contradict each
// other and themselves. The command works, or is refused with an Error of limited length.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "commands/commands.h"
#include "fuzz/choices.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/odd_attention.h"
#include "fuzz/odd_command.h"
#include "fuzz/time_limit.h"
#include "options/advice.h"
#include "options/command_line.h"
#include "support/run_program.h"
#include "system/output_file.h"

// From the sanitizers' runtime, whose reports are not the program's.
extern "C" void __sanitizer_set_report_fd(  // NOLINT(readability-identifier-naming)
    void* fd) __attribute__((weak));

namespace attnviz {

namespace {

// The folder in which a command reads and writes, isolated from the machine's own files.
class WorkingFolder {
 public:
  WorkingFolder() : before_(std::filesystem::current_path()) {
    // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
    test::write_file(home_.file("fonts.conf"), "<fontconfig/>");
    setenv("HOME", home_.path().c_str(), 1);
    setenv("FONTCONFIG_FILE", home_.file("fonts.conf").c_str(), 1);
    for (const char* const name : {"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HF_HOME",
                                   "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS"}) {
      unsetenv(name);
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }
  void enter(const std::string& input) const {
    for (const std::filesystem::path& old : std::filesystem::directory_iterator(folder_.path())) {
      std::filesystem::remove_all(old);
    }
    std::filesystem::current_path(folder_.path());
    test::write_file(test::kInput, input);
  }
  void leave() const { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
  test::TemporaryFolder home_;
  test::TemporaryFolder folder_;
};

// Redirects a stream to another file during its lifetime.
class Redirected {
 public:
  Redirected(int fd, const char* file, const char* mode) : fd_(fd), kept_(dup(fd)) {
    std::FILE* const opened = std::fopen(file, mode);
    test::require(opened != nullptr && dup2(fileno(opened), fd) == fd);
    std::fclose(opened);
  }
  ~Redirected() {
    dup2(kept_, fd_);
    close(kept_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

  int kept() const { return kept_; }

 private:
  int fd_;
  int kept_;
};

// The standard streams of a command, which reads from the input file.
class Streams {
 public:
  Streams() { report_to(err_.kept()); }
  ~Streams() { report_to(STDERR_FILENO); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

 private:
  static void report_to(int fd) {
    if (__sanitizer_set_report_fd != nullptr) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): required by its interface
      __sanitizer_set_report_fd(reinterpret_cast<void*>(std::intptr_t{fd}));
    }
  }

  Redirected in_{STDIN_FILENO, test::kInput, "r"};
  Redirected out_{STDOUT_FILENO, "/dev/null", "w"};
  Redirected err_{STDERR_FILENO, "/dev/null", "w"};
};

// What is wrong with how the command ended; empty if it worked or gave a reason for failing.
std::string run(const std::vector<std::string>& words) {
  const Streams streams;
  try {
    const auto names_no_model = [](const std::string&, bool) { return false; };
    const app::CommandLine line = app::parse_command_line(words, names_no_model);
    std::visit(
        [](const auto& options) {
          if constexpr (requires { app::run(options); }) {
            app::run(options);
          }
        },
        line.command);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    return message.empty() || message.size() > 100'000 ? "a message of no length, or endless" : "";
  } catch (const app::ClosedPipe&) {
    return "a closed pipe";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// The command line to type, and the contents of in.json.
void show(const std::vector<std::string>& words, const std::string& columns,
          const std::string& input) {
  std::string line = "COLUMNS=" + columns + " attnviz";
  for (const std::string& word : words) {
    line += ' ' + app::shell_quoted(word);
  }
  std::fprintf(stderr, "%s\n%s", line.c_str(), input.c_str());
}

}  // namespace

namespace test {

// Random choices: no better seeds are known.
std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds(100);
  std::mt19937 random(1);
  for (std::string& seed : seeds) {
    seed.resize(random() % 400);
    for (char& byte : seed) {
      byte = static_cast<char>(random() & 0xFF);
    }
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  const TimeLimit limit(30);  // for whole commands, with sanitizers
  static const WorkingFolder folder;
  Choices choices(bytes);
  const std::vector<std::string> words = odd_command(choices);
  const std::string columns = choices.of({"80", "1", "5", "20", "24", "40", "200"});
  const std::string input = odd_attention(choices);
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
  setenv("COLUMNS", columns.c_str(), 1);
  const bool is_shown = std::getenv("ATTNVIZ_FUZZ_SHOW") != nullptr;
  // NOLINTEND(concurrency-mt-unsafe)
  if (is_shown) {
    show(words, columns, input);
  }
  folder.enter(input);
  const std::string fault = run(words);
  folder.leave();
  if (!fault.empty()) {
    show(words, columns, input);
    std::fprintf(stderr, "%s\n", fault.c_str());
    std::abort();
  }
}

}  // namespace test

}  // namespace attnviz
