#include "attnviz/core/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace attnviz {

// A file that is mapped now. A signal handler reads these entries while other threads map and unmap
// files. It reads the name only for a fault within the map, which exists as long as a thread reads
// from it.
struct MapEntry {
  std::atomic<const char*> begin;
  std::atomic<std::size_t> size;
  std::atomic<const char*> name;
  // The path, and which file it was. Not for signal handlers: guarded by `entries_change`.
  const char* path = nullptr;
  dev_t device = 0;
  ino_t inode = 0;
};

namespace {

static_assert(std::atomic<const char*>::is_always_lock_free &&
              std::atomic<std::size_t>::is_always_lock_free);

constexpr std::size_t kMostEntries = 1024;  // more files are mapped without an entry
std::array<MapEntry, kMostEntries> entries{};
// Later entries have never been used, and searching them would take time.
std::atomic<std::size_t> n_entered = 0;

std::span<const MapEntry> entered() noexcept {
  return std::span(entries).first(n_entered.load());
}

std::mutex entries_change;
// The name of the first file that was found shortened when it was unmapped; truncated to fit.
std::array<char, 1024> shortened_before{};

// nullptr if all entries are in use.
MapEntry* enter(const char* begin, std::size_t size, const char* name, const char* path,
                const struct stat& file) noexcept {
  const std::lock_guard lock(entries_change);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    MapEntry& entry = entries[i];
    const char* nothing = nullptr;
    if (entry.begin.compare_exchange_strong(nothing, begin)) {
      n_entered.store(std::max(n_entered.load(), i + 1));
      entry.name.store(name);
      entry.size.store(size);
      entry.path = path;
      entry.device = file.st_dev;
      entry.inode = file.st_ino;
      return &entry;
    }
  }
  return nullptr;
}

bool is_shortened(const MapEntry& entry) noexcept {
  struct stat now {};
  return stat(entry.path, &now) == 0 && now.st_dev == entry.device && now.st_ino == entry.inode &&
         static_cast<std::size_t>(now.st_size) < entry.size.load();
}

void leave(MapEntry& entry) noexcept {
  const std::lock_guard lock(entries_change);
  if (shortened_before[0] == '\0' && is_shortened(entry)) {
    const std::string_view name = entry.name.load();
    std::ranges::copy(name.substr(0, shortened_before.size() - 1), shortened_before.begin());
  }
  entry.size.store(0);
  entry.begin.store(nullptr);
}

}  // namespace

struct MappedFile::Storage {
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (entry != nullptr) {
      leave(*entry);
    }
    if (map != nullptr) {
      munmap(map, size);
    }
  }

  void* map = nullptr;
  std::size_t size = 0;
  std::string path;  // of the mapped file
  std::string name;  // the same, printable
  MapEntry* entry = nullptr;
  std::string read;  // holds the bytes if they are not mapped
};

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorKind::kIo, fmt::format("{}: cannot read: {}", path.string(), why));
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  const std::string why = std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
  std::error_code no_link;
  const auto target = std::filesystem::read_symlink(path, no_link);
  if (error == ENOENT && !no_link) {
    fail(path,
         fmt::format(
             "{}: a link to {}, which is missing; if it was downloaded, the download is incomplete",
             why, target.string()));
  }
  fail(path, why);
}

// Opens without waiting: a named pipe or a device may wait for its other end.
struct Descriptor {
  explicit Descriptor(const std::filesystem::path& path)
      : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (fd < 0) {
      fail(path, errno);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(fd); }
  int fd;
};

// A pipe that a shell makes for <(command) has no name and has a process at its other end.
bool is_named_pipe(int fd) {
  std::error_code unknown;
  const auto name = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), unknown);
  return !unknown && !name.native().starts_with("pipe:");
}

// Devices may never end, and a named pipe may never get a writer.
void require_file_or_pipe(int fd, mode_t mode, const std::filesystem::path& path) {
  if (S_ISDIR(mode)) {
    fail(path, EISDIR);
  }
  if (S_ISCHR(mode) || S_ISBLK(mode)) {
    fail(path, "a device, not a file");
  }
  if (S_ISFIFO(mode) && is_named_pipe(fd)) {
    fail(path, "a named pipe, not a file");
  }
}

// Streams that cannot be mapped do not have a size to check in advance.
constexpr std::size_t kLongestStream = std::size_t{256} << 20;

// `waits`: for the writer of a pipe. Files in /proc may never have anything to read.
std::string read_all(int fd, bool waits, const std::filesystem::path& path) {
  std::string bytes;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto [count, error] = read_some(fd, chunk, waits);
    if (error == EAGAIN) {
      fail(path, "it has nothing to read at the moment");
    }
    if (error != 0) {
      fail(path, error);
    }
    if (count == 0) {
      return bytes;
    }
    bytes.append(chunk.data(), count);
    if (bytes.size() > kLongestStream) {
      fail(path, fmt::format("not a regular file, and longer than {} MiB", kLongestStream >> 20));
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
  require_file_or_pipe(file.fd, info.st_mode, path);
  auto storage = std::make_shared<Storage>();
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (map != MAP_FAILED) {
      storage->map = map;
      storage->size = size;
      storage->path = path.string();
      storage->name = printable_line(storage->path);
      storage->entry = enter(static_cast<const char*>(map), size, storage->name.c_str(),
                             storage->path.c_str(), info);
    }
  }
  if (storage->map == nullptr) {
    storage->read = read_all(file.fd, !S_ISREG(info.st_mode), path);
  }
  storage_ = std::move(storage);
  if (kind_of_bytes(bytes()) == FileKind::kLfsPointer) {
    throw Error(ErrorKind::kIo, fmt::format("{}: {}", path.string(),
                                            described_kind(FileKind::kLfsPointer, bytes())));
  }
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
  // Only pages that lie wholly within the piece. Pages at its ends stay until the file is unmapped.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(piece.data() - bytes().data());
  const std::size_t begin = (offset + page - 1) / page * page;
  const std::size_t end = (offset + piece.size()) / page * page;
  if (begin < end) {
    madvise(static_cast<char*>(storage_->map) + begin, end - begin, MADV_DONTNEED);
  }
}

const char* mapped_file_at(const void* address) noexcept {
  const auto* const place = static_cast<const char*>(address);
  for (const MapEntry& entry : entered()) {
    const char* const begin = entry.begin.load();
    const std::less<> before;
    if (begin != nullptr && !before(place, begin) && before(place, begin + entry.size.load())) {
      return entry.name.load();
    }
  }
  return nullptr;
}

std::string shortened_file() {
  const std::lock_guard lock(entries_change);
  const std::span<const MapEntry> all = entered();
  const auto found = std::ranges::find_if(all, [](const MapEntry& entry) {
    return entry.begin.load() != nullptr && is_shortened(entry);
  });
  return found != all.end() ? found->name.load() : shortened_before.data();
}

void require_whole_files() {
  if (const std::string name = shortened_file(); !name.empty()) {
    throw Error(ErrorKind::kIo, name + std::string(kBecameShorter));
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

namespace {

// Whether to repeat a failed call: it was interrupted, or nothing was ready and now something is.
// Other programs that share a pipe or a terminal may have made it non-blocking.
bool can_go_on(int fd, short events) noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    pollfd waited = {fd, events, 0};
    return poll(&waited, 1, -1) >= 0 || errno == EINTR;
  }
  return errno == EINTR;
}

}  // namespace

Transfer read_some(int fd, std::span<char> into, bool waits) noexcept {
  for (;;) {
    const ssize_t count = ::read(fd, into.data(), into.size());
    if (count >= 0) {
      return {static_cast<std::size_t>(count), 0};
    }
    if ((!waits && errno == EAGAIN) || !can_go_on(fd, POLLIN)) {
      return {0, errno};
    }
  }
}

int write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && !can_go_on(fd, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector of any target
constexpr std::size_t kLargePage = std::size_t{1} << 21;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

[[maybe_unused]] bool is_large(std::size_t bytes) noexcept {
  return bytes >= kLargePage;
}

// Creates fresh pages in one call: otherwise the first write to each page faults, which takes
// several times as long, and ten times as long on virtual machines. Only a hint.
void make_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPage = 4096;            // madvise() needs the start of a page,
  constexpr std::size_t kFewPages = 16 * kPage;  // and the call has a cost
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = rounded_up(address, kPage) - address;
  if (bytes >= kFewPages) {
    madvise(static_cast<char*>(data) + before, (bytes - before) / kPage * kPage,
            MADV_POPULATE_WRITE);
  }
#endif
}

#ifdef __linux__

// A hint, which the system may ignore.
void prefer_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

// Whole large pages, cut out of a mapping that is one large page longer.
void* map_pages(std::size_t bytes) noexcept {
  const std::size_t size = rounded_up(bytes, kLargePage);
  void* const mapping =
      mmap(nullptr, size + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return nullptr;
  }
  auto* const begin = static_cast<char*>(mapping);
  const std::size_t past_page = reinterpret_cast<std::uintptr_t>(mapping) % kLargePage;
  const std::size_t before = past_page == 0 ? 0 : kLargePage - past_page;
  if (before > 0) {
    munmap(begin, before);
  }
  munmap(begin + before + size, kLargePage - before);
  prefer_large_pages(begin + before, size);
  return begin + before;
}

#endif

}  // namespace

void* allocate_zeroed(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX - 2 * kLargePage) {
    return nullptr;
  }
#ifdef __linux__
  if (is_large(bytes)) {
    return map_pages(bytes);
  }
#endif
  const std::size_t padded = rounded_up(std::max<std::size_t>(bytes, 1), kAlignment);
  void* const data = std::aligned_alloc(kAlignment, padded);
  if (data == nullptr) {
    return nullptr;
  }
  make_pages(data, padded);
  return std::memset(data, 0, padded);
}

void free_zeroed(void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __linux__
  if (is_large(bytes)) {
    munmap(data, rounded_up(bytes, kLargePage));
    return;
  }
#endif
  std::free(data);
}

}  // namespace attnviz
