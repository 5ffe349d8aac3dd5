// A text as it comes: from a file or from standard input. Whether two paths name the same file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace attnviz::app {

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
