// A file's bytes, mapped read-only, or read when it cannot be mapped (pipes).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace attnviz {

/// Owns the bytes; they stay valid and in place until it is destroyed. Movable.
class MappedFile {
 public:
  /// Throws Error{kIo} with the path and the system's reason, or when what is no regular file does
  /// not end within 256 MiB.
  explicit MappedFile(const std::filesystem::path& path);

  std::string_view bytes() const noexcept;

  /// Lets the system take back the memory of a piece of bytes(), which are read again when they are
  /// looked at again. Nothing when they are not mapped.
  void forget(std::string_view piece) const noexcept;

 private:
  struct Storage;
  std::shared_ptr<const Storage> storage_;
};

}  // namespace attnviz
