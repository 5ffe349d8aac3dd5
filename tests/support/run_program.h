// Runs a program as a person or a script would, and keeps its output.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attnviz::test {

/// No shell, and no environment except PATH, HOME and the variables given here.
struct ProgramRun {
  std::vector<std::string> arguments;
  std::string input;
  std::map<std::string, std::string> environment;
  std::filesystem::path folder;  // working folder; empty: this process's

  std::optional<std::string> stdout_path;   // standard output goes to this file
  std::optional<std::size_t> stdout_limit;  // the reader closes the pipe after so many bytes
  std::optional<std::size_t> tty_columns;   // standard output is a terminal of this width
  std::string prompt;                       // with `keys`: what is printed before each is typed
  std::vector<std::string> keys;            // typed after `input` where standard input is a
                                            // terminal, one for each time that `prompt` was printed
  std::vector<int> closed_streams;          // of 0, 1, 2
  bool stdin_is_tty = false;                // with tty_columns: standard input is that terminal,
                                            // and `input` is typed there
  bool stderr_is_tty = false;               // with tty_columns: so is standard error
  int signal_after_output = 0;              // input stays open, and this signal is sent
  std::size_t memory_limit = 0;             // bytes of address space
};

struct ProgramResult {
  int exit_code = -1;  // or -1
  int signal = 0;      // that ended it, or 0
  std::string out;
  std::string err;
};

/// Throws std::runtime_error if the program cannot be started, or runs for more than a minute.
ProgramResult run_program(const std::filesystem::path& program, const ProgramRun& run);

/// A fresh folder, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Full name of a file in it.
  std::string file(const std::string& name) const { return path_ / name; }
  /// Names in it, in order.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace attnviz::test
