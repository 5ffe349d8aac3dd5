#include "attnviz/core/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

struct MappedFile::Storage {
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (map != nullptr) {
      munmap(map, size);
    }
  }

  void* map = nullptr;
  std::size_t size = 0;
  std::string read;  // holds the bytes when there is no map
};

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Error(ErrorKind::kIo, fmt::format("{}: cannot read: {}", path.string(),
                                          std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
}

struct Descriptor {
  explicit Descriptor(const std::filesystem::path& path)
      : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd < 0) {
      fail(path, errno);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(fd); }
  int fd;
};

// What cannot be mapped has no size to check first: /dev/zero never ends.
constexpr std::size_t kLongestStream = std::size_t{256} << 20;

std::string read_all(int fd, const std::filesystem::path& path) {
  std::string bytes;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0) {
      return bytes;
    }
    if (count > 0) {
      bytes.append(chunk.data(), static_cast<std::size_t>(count));
      if (bytes.size() > kLongestStream) {
        throw Error(ErrorKind::kIo, fmt::format("{}: cannot read: no regular file, and longer than "
                                                "{} MiB",
                                                path.string(), kLongestStream >> 20));
      }
    } else if (errno != EINTR) {
      fail(path, errno);
    }
  }
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(path);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) {
    fail(path, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    fail(path, EISDIR);
  }
  auto storage = std::make_shared<Storage>();
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (map != MAP_FAILED) {
      storage->map = map;
      storage->size = size;
    }
  }
  if (storage->map == nullptr) {
    storage->read = read_all(file.fd, path);
  }
  storage_ = std::move(storage);
}

std::string_view MappedFile::bytes() const noexcept {
  if (is_mapped()) {
    return {static_cast<const char*>(storage_->map), storage_->size};
  }
  return storage_->read;
}

bool MappedFile::is_mapped() const noexcept {
  return storage_->map != nullptr;
}

void MappedFile::forget(std::string_view piece) const noexcept {
  if (!is_mapped() || piece.empty()) {
    return;
  }
  // Pages that lie wholly in it. Those at its ends stay until the whole file goes.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(piece.data() - bytes().data());
  const std::size_t begin = (offset + page - 1) / page * page;
  const std::size_t end = (offset + piece.size()) / page * page;
  if (begin < end) {
    madvise(static_cast<char*>(storage_->map) + begin, end - begin, MADV_DONTNEED);
  }
}

MappedFile OpenFiles::open(const std::filesystem::path& path) {
  if (const auto known = files_->find(path); known != files_->end()) {
    return known->second;
  }
  MappedFile file(path);
  if (file.is_mapped()) {
    files_->emplace(path, file);
  }
  return file;
}

}  // namespace attnviz
