// Where bytes end up: files that appear whole or not at all, and standard output.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "system/signals.h"

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

}  // namespace attnviz::app
