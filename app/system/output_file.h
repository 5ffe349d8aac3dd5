// Destinations of bytes: files that appear whole or not at all, and standard output. Sources: a
// file or standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "system/process.h"

namespace attnviz::app {

/// Thrown when the reader of standard output is gone; the program then ends quietly.
struct ClosedPipe {};

/// Fills standard streams that the caller has closed, so that files that are opened do not take
/// their place and receive their data. Using one of these streams is still an error.
void reserve_standard_streams() noexcept;

/// Throws ClosedPipe, or Error{kIo}.
void write_to_stdout(std::string_view bytes);

/// Prevents slips that would destroy a model or a text: throws Error{kUsage} if `option` writes to
/// the file that is read.
void refuse_to_overwrite(std::string_view option, const std::filesystem::path& name,
                         const std::filesystem::path& read);

/// Whether standard output is redirected to the file of this name: replacing the file would lose
/// that output. False for names of open files, such as /dev/stdout, which append to it.
bool is_where_stdout_goes(const std::filesystem::path& name);

/// Whether two names lead to the same place, even if the files do not exist.
bool same_place(const std::filesystem::path& a, const std::filesystem::path& b);

/// The target of a name, even if the file does not exist yet. Throws Error{kIo} for cyclic links.
std::filesystem::path follow_links(std::filesystem::path path);

/// A file being written. A regular file takes its name only at commit(): until then the bytes are
/// in a file without a name, which vanishes with the program. If the file system has no unnamed
/// files, and briefly when a file is replaced, a temporary file beside it is used, which is removed
/// on errors and signals. Links are followed. Devices and pipes are written directly, and so are
/// open files named as in /dev/stdout, from their current position.
class OutputFile {
 public:
  /// Opens at once, before slow work starts. Throws Error{kIo} with path and reason, and
  /// Error{kUsage} if more than 16 are open.
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws Error{kIo}.
  void write(std::string_view bytes);

  /// Throws Error{kIo}, also through require_whole_files(); nothing may be written afterwards.
  void commit();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  bool open_without_name();
  void open_beside_target();
  void give_name();
  // Calls `take`, which sets errno on failure, with new names until one is free.
  void take_free_name(const std::function<bool(const char* name)>& take);
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path target_;              // path_ with links followed
  std::optional<UnfinishedFile> unfinished_;  // absent when written directly
  std::string temporary_;                     // name beside the target, once it exists
  int fd_ = -1;
};

// A text from a file or from standard input. Whether two paths name the same file.

/// A name of standard input, of any kind.
constexpr const char* kStandardInput = "/dev/stdin";

/// Reads from beginning to end, and waits while no bytes are available.
class InputStream {
 public:
  /// Standard input, which stays open.
  InputStream() noexcept;
  /// Throws Error{kIo}.
  explicit InputStream(const std::filesystem::path& file);
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  /// The input's name in messages.
  const std::string& name() const noexcept { return name_; }
  /// Whether it was opened by a name.
  bool is_file() const noexcept;

  /// Reads the next bytes, at most `into.size()`. Returns their number, or 0 at the end or after an
  /// Interruption was requested. Throws Error{kIo}.
  std::size_t read(std::span<char> into);
  bool was_interrupted() const noexcept { return was_interrupted_; }
  /// The share of a regular file that lies before the last `unread` bytes read; 0 for other inputs.
  double share_read(std::size_t unread) const;

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  int fd_;
  bool was_interrupted_ = false;
};

/// Equal for all paths of the same file.
using FileId = std::pair<std::uint64_t, std::uint64_t>;

/// Nothing if the file does not exist.
std::optional<FileId> id_of(const std::filesystem::path& path);

}  // namespace attnviz::app
