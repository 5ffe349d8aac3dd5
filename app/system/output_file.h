// Where bytes end up: files that appear whole or not at all, and standard output. Where they come
// from: a file or standard input.
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

/// Thrown when nobody reads standard output any more; the program then ends quietly.
struct ClosedPipe {};

/// Keeps files from taking the place of standard streams that the caller has closed, where they
/// would be given what is meant for the stream. Using such a stream is still an error.
void reserve_standard_streams() noexcept;

/// Throws ClosedPipe, or Error{kIo}.
void write_to_stdout(std::string_view bytes);

/// Of a slip of the hand that would cost a model or a text. Throws Error{kUsage} when `option`
/// writes to the file that is read.
void refuse_to_overwrite(std::string_view option, const std::filesystem::path& name,
                         const std::filesystem::path& read);

/// Whether standard output was redirected to the file of this name: replacing it would lose what is
/// written there. Not of names of what is open, as /dev/stdout, which add to it.
bool is_where_stdout_goes(const std::filesystem::path& name);

/// Whether two names, of files that need not be there, lead to the same place.
bool same_place(const std::filesystem::path& a, const std::filesystem::path& b);

/// What a name leads to, also where there is no file yet. Throws Error{kIo} for links in a circle.
std::filesystem::path follow_links(std::filesystem::path path);

/// A file being written. A regular file takes its name only at commit(): until then the bytes stand
/// in a file without a name, which goes with the program, or, where the file system has none, in a
/// temporary one beside it, which is removed on errors and signals; so for a moment where a file is
/// replaced. Links are followed. Devices and pipes are written directly, and so is what is open by
/// a name such as /dev/stdout: from where it is.
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

  /// Throws Error{kIo}, as require_whole_files() does, too; nothing may be written afterwards.
  void commit();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  bool open_without_name();
  void open_beside_target();
  void give_name();
  // Calls `take`, which sets errno where it returns false, until it got a name that was free.
  void take_free_name(const std::function<bool(const char* name)>& take);
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path target_;              // path_ with links followed
  std::optional<UnfinishedFile> unfinished_;  // not when written directly
  std::string temporary_;                     // the name beside the target, once there is one
  int fd_ = -1;
};

// A text as it comes: from a file or from standard input. Whether two paths name the same file.

/// A name of standard input, whatever it is.
constexpr const char* kStandardInput = "/dev/stdin";

/// Reads from beginning to end, and waits where nothing is there yet.
class InputStream {
 public:
  /// Standard input, which stays open.
  InputStream() noexcept;
  /// Throws Error{kIo}.
  explicit InputStream(const std::filesystem::path& file);
  ~InputStream();
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  /// What messages call it.
  const std::string& name() const noexcept { return name_; }
  /// Whether it was opened by a name.
  bool is_file() const noexcept;

  /// The next bytes, at most so many: how many, and 0 at the end, or when an Interruption was
  /// requested. Throws Error{kIo}.
  std::size_t read(std::span<char> into);
  bool was_interrupted() const noexcept { return was_interrupted_; }
  /// The share of a regular file before the last `unread` bytes that were read; 0 of anything else.
  double share_read(std::size_t unread) const;

 private:
  [[noreturn]] void fail(int error) const;

  std::string name_;
  int fd_;
  bool was_interrupted_ = false;
};

/// Equal for all paths of the same file.
using FileId = std::pair<std::uint64_t, std::uint64_t>;

/// Nothing if there is no such file.
std::optional<FileId> id_of(const std::filesystem::path& path);

}  // namespace attnviz::app
