// The bytes of files: mapped read-only, or read if they cannot be mapped (pipes). Reading from and
// writing to open file descriptors, blocking or not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

namespace attnviz {

/// Owns the bytes. They stay valid and in place as long as this object or a copy of it exists.
class MappedFile {
 public:
  /// Throws Error{kIo} with the path and the system's reason; for devices and named pipes; for a
  /// pipe that does not end within 256 MiB; for a file that has nothing to read now (/proc/kmsg);
  /// and for a Git LFS pointer, which stands for a file that was not downloaded.
  explicit MappedFile(const std::filesystem::path& path);

  std::string_view bytes() const noexcept;
  /// Whether the bytes are mapped, rather than in memory of their own.
  bool is_mapped() const noexcept;

  /// Lets the system take back the memory of a piece of bytes(); the next access reads the file
  /// again. Does nothing if the bytes are not mapped.
  void forget(std::string_view piece) const noexcept;

 private:
  struct Storage;
  std::shared_ptr<const Storage> storage_;
};

/// The printable name of the file whose mapping contains the address, or nullptr. A fault there
/// means that the file has become shorter than its mapping or cannot be read. Safe in a signal
/// handler.
const char* mapped_file_at(const void* address) noexcept;

/// The error message for this case, which follows the file's name.
inline constexpr std::string_view kBecameShorter =
    ": cannot read: the file became shorter while it was read";

/// The printable name of a file that has become shorter since it was mapped, whether or not it is
/// still mapped; empty if none has. Bytes after the new end, in the same page, read as zeros
/// without a fault. A file that was replaced by another one counts as unchanged.
std::string shortened_file();

/// Throws Error{kIo} if a file has become shorter: results computed from it are invalid.
void require_whole_files();

/// Files that several readers use, each opened only once. A handle: copies share the same files.
/// Not thread-safe.
class OpenFiles {
 public:
  /// The file at `path`, opened on first use. Files that cannot be mapped (pipes, empty files) are
  /// not kept. Throws what MappedFile throws.
  MappedFile open(const std::filesystem::path& path);

 private:
  using Files = std::map<std::filesystem::path, MappedFile>;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
};

/// A file in memory: its bytes, and its name for messages. Does not own them.
struct NamedBytes {
  std::string_view bytes;
  std::string_view name;
};

/// The result of a system call: the number of bytes, or the error that stopped it.
struct Transfer {
  std::size_t count = 0;
  int error = 0;
};

/// Reads the available bytes, at most the size of `into`, and waits for them even if the descriptor
/// is non-blocking. 0 bytes: the end. Without `waits`, a non-blocking descriptor with nothing to
/// read gives EAGAIN.
Transfer read_some(int fd, std::span<char> into, bool waits = true) noexcept;

/// Writes all bytes; returns 0, or the error that stopped it. Waits as read_some() does.
int write_all(int fd, std::string_view bytes) noexcept;

// Memory for large buffers, in large pages if the system has them: most of the time to fill fresh
// memory goes into page faults, and a page of 2 MB takes one fault where pages of 4 KB take 512.

/// `bytes` bytes, all 0 and aligned to 64; whole large pages from 2 MB on. nullptr if memory runs
/// out. Must be freed by free_zeroed() with the same size.
void* allocate_zeroed(std::size_t bytes) noexcept;
void free_zeroed(void* data, std::size_t bytes) noexcept;

/// For containers of numbers. Elements constructed without a value are not written: they are 0 in
/// fresh memory, and keep their old content if the container has shrunk before.
template <class T>
struct ZeroedAllocator {
  using value_type = T;

  ZeroedAllocator() = default;
  template <class U>
  ZeroedAllocator(const ZeroedAllocator<U>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    void* const data = count <= std::numeric_limits<std::size_t>::max() / sizeof(T)
                           ? allocate_zeroed(count * sizeof(T))
                           : nullptr;
    if (data == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) noexcept { free_zeroed(data, count * sizeof(T)); }

  template <class U>
  void construct(U* /*element*/) noexcept {}
  template <class U, class Value>
  void construct(U* element, const Value& value) {
    ::new (static_cast<void*>(element)) U(value);
  }

  bool operator==(const ZeroedAllocator& /*other*/) const noexcept { return true; }
};

// Where streamed output goes: a file, standard output, a string.

/// Takes the next bytes of an output, in order. Throws Error{kIo} when they cannot be written.
using ByteSink = std::function<void(std::string_view bytes)>;

}  // namespace attnviz
