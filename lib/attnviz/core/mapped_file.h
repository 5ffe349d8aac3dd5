// A file's bytes, mapped read-only, or read when it cannot be mapped (pipes).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace attnviz {

/// Owns the bytes, which stay valid and in place as long as it, or a copy of it, is there.
class MappedFile {
 public:
  /// Throws Error{kIo} with the path and the system's reason, or when what is no regular file does
  /// not end within 256 MiB.
  explicit MappedFile(const std::filesystem::path& path);

  std::string_view bytes() const noexcept;
  /// Whether they are mapped, and not in memory of their own.
  bool is_mapped() const noexcept;

  /// Lets the system take back the memory of a piece of bytes(), which are read again when they are
  /// looked at again. Nothing when they are not mapped.
  void forget(std::string_view piece) const noexcept;

 private:
  struct Storage;
  std::shared_ptr<const Storage> storage_;
};

}  // namespace attnviz
