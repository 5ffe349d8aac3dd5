// Where bytes end up: files that appear whole or not at all, and standard output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attnviz::app {

/// Thrown when nobody reads standard output any more; the program then ends quietly.
struct ClosedPipe {};

/// SIGINT, SIGTERM and SIGHUP remove unfinished files, give the terminal back as it was and end the
/// program with 130; a closed pipe becomes an error of the write instead of a signal.
void install_signal_handlers();

/// While it lives, the first signal that would end the program is noted in its place, so that what
/// has been done can be kept; the second one ends it. One at a time.
class Interruption {
 public:
  Interruption() noexcept;
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool is_requested() const noexcept;
};

/// Keeps files from taking the place of standard streams that the caller has closed, where they
/// would be given what is meant for the stream. Using such a stream is still an error.
void reserve_standard_streams() noexcept;

/// Throws ClosedPipe, or Error{kIo}.
void write_to_stdout(std::string_view bytes);

/// Of a slip of the hand that would cost a model or a text. Throws Error{kUsage} when `option`
/// writes to the file that is read.
void refuse_to_overwrite(std::string_view option, const std::filesystem::path& name,
                         const std::filesystem::path& read);

/// A file being written. A regular file takes its name only at commit(): until then the bytes stand
/// in a temporary file beside it, which is removed on errors and signals. Links are followed.
/// Devices and pipes are written directly.
class OutputFile {
 public:
  /// Opens at once, before slow work starts. Throws Error{kIo} with path and reason, Error{kUsage}
  /// when more than 16 are open.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws Error{kIo}.
  void write(std::string_view bytes);

  /// Throws Error{kIo}; nothing may be written afterwards.
  void commit();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void open_beside_target();
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path target_;  // path_ with links followed
  std::string temporary_;         // empty when written directly
  int fd_ = -1;
  std::size_t slot_ = 0;
};

}  // namespace attnviz::app
