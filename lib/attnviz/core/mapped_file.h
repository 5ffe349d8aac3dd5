// Files' bytes, mapped read-only, or read when they cannot be mapped (pipes). Reading and writing
// what the system has open, whichever way it was opened.
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

/// Owns the bytes, which stay valid and in place as long as it, or a copy of it, is there.
class MappedFile {
 public:
  /// Throws Error{kIo} with the path and the system's reason; for devices and named pipes; when a
  /// pipe does not end within 256 MiB; for a file that has nothing to read now (/proc/kmsg); and
  /// for a Git LFS pointer, which stands for a file that was not downloaded.
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

/// The printable name of the file whose map holds the address, or nullptr: of a fault there, it has
/// become shorter than its map, or cannot be read. Safe in a signal handler.
const char* mapped_file_at(const void* address) noexcept;

/// What is wrong with a file then, to stand behind its name.
inline constexpr std::string_view kBecameShorter =
    ": cannot read: the file became shorter while it was read";

/// The printable name of a file that has become shorter than it was when it was mapped, of those
/// that are mapped and those that were; empty when there is none. What stands behind a new end in
/// the same page reads as zeros, without a fault. A file that another one has replaced is as it
/// was.
std::string shortened_file();

/// Throws Error{kIo} when there is one: what was made of it is no result.
void require_whole_files();

/// Files that several readers look at, each opened once. A handle: copies know the same files. Used
/// by one thread at a time.
class OpenFiles {
 public:
  /// The file at `path`, which is opened when it is asked for the first time. What cannot be mapped
  /// (a pipe, an empty file) is not kept. Throws what MappedFile throws.
  MappedFile open(const std::filesystem::path& path);

 private:
  using Files = std::map<std::filesystem::path, MappedFile>;
  std::shared_ptr<Files> files_ = std::make_shared<Files>();
};

/// A file that is in memory: its bytes, and the name for messages. Someone else keeps both.
struct NamedBytes {
  std::string_view bytes;
  std::string_view name;
};

/// What a call to the system did: so many bytes, or the error that stopped it.
struct Transfer {
  std::size_t count = 0;
  int error = 0;
};

/// Reads what is there, at most what `into` holds, and waits for it, even if the descriptor is
/// non-blocking. 0 bytes: the end. Without `waits`, a non-blocking descriptor with nothing to read
/// gives EAGAIN.
Transfer read_some(int fd, std::span<char> into, bool waits = true) noexcept;

/// All of it; 0, or the error that stopped it. Waits as read_some() does.
int write_all(int fd, std::string_view bytes) noexcept;

// Memory for large buffers, in large pages where the system has them: writing fresh memory for the
// first time is mostly page faults, and a page of 2 MB takes one where pages of 4 KB take 512.

/// `bytes` bytes, all 0 and aligned to 64; from 2 MB on whole large pages. nullptr when there is no
/// memory. To be given back with free_zeroed() and the same size.
void* allocate_zeroed(std::size_t bytes) noexcept;
void free_zeroed(void* data, std::size_t bytes) noexcept;

/// For containers of numbers. Elements that a container makes without a value are not written: they
/// are 0 in fresh memory, and what was there before after the container has shrunk.
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
