// Loaded before a program (LD_PRELOAD), makes one of its system calls fail, or raises a signal
// there. Controlled by environment variables:
//
//   ATTNVIZ_FAULT_KIND     memory, map, open, read, write, close, rename, stat or thread
//   ATTNVIZ_FAULT_AT       which call of that kind, from 1
//   ATTNVIZ_FAULT_ON       set: all later calls fail as well
//   ATTNVIZ_FAULT_SIGNAL   a signal's number: it is raised instead of failing
//   ATTNVIZ_FAULT_COUNTS   a file to which the number of calls of each kind is written at the end
//
// Depends on glibc for what it does not declare: its own names of malloc() and the like.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): glibc's own
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
// NOLINTEND(readability-identifier-naming)
}

namespace {

enum Kind { kMemory, kMap, kOpen, kRead, kWrite, kClose, kRename, kStat, kThread, kKinds };
constexpr const char* kNames[kKinds] = {"memory", "map",    "open", "read",  "write",
                                        "close",  "rename", "stat", "thread"};

// Zero before main(), as everything here: allocations happen before constructors run.
std::atomic<long> counts[kKinds];
std::atomic<bool> is_ready;
int chosen = -1;
long at = 0;
bool goes_on = false;
int raised = 0;
int counts_file = -1;

[[gnu::constructor]] void begin() {
  const char* const kind = getenv("ATTNVIZ_FAULT_KIND");
  for (int i = 0; kind != nullptr && i < kKinds; ++i) {
    if (strcmp(kind, kNames[i]) == 0) {
      chosen = i;
    }
  }
  const auto number = [](const char* name) {
    const char* const text = getenv(name);
    return text == nullptr ? 0 : atol(text);
  };
  at = number("ATTNVIZ_FAULT_AT");
  goes_on = getenv("ATTNVIZ_FAULT_ON") != nullptr;
  raised = static_cast<int>(number("ATTNVIZ_FAULT_SIGNAL"));
  // Opened before the program gives up the right to open files.
  if (const char* const path = getenv("ATTNVIZ_FAULT_COUNTS")) {
    counts_file = static_cast<int>(
        syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  is_ready = true;
}

[[gnu::destructor]] void end() {
  is_ready = false;
  for (int i = 0; counts_file >= 0 && i < kKinds; ++i) {
    dprintf(counts_file, "%s %ld\n", kNames[i], counts[i].load());
  }
}

// Whether this call must fail, with errno set.
bool fails(Kind kind, int error) {
  if (!is_ready) {
    return false;
  }
  const long count = ++counts[kind];
  if (kind != chosen || (goes_on ? count < at : count != at)) {
    return false;
  }
  if (raised != 0) {
    raise(raised);
    return false;
  }
  errno = error;
  return true;
}

// The result of a system call, as the C library returns it.
template <class... Arguments>
long system_call(long number, Arguments... arguments) {
  return syscall(number, arguments...);
}

int opened(int folder, const char* path, int flags, mode_t mode) {
  return fails(kOpen, EMFILE)
             ? -1
             : static_cast<int>(system_call(SYS_openat, folder, path, flags, mode));
}

int looked_at(int folder, const char* path, struct stat* info, int flags) {
  return fails(kStat, EACCES)
             ? -1
             : static_cast<int>(system_call(SYS_newfstatat, folder, path, info, flags));
}

mode_t mode_of(int flags, va_list& more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" {

void* malloc(size_t size) noexcept {
  return fails(kMemory, ENOMEM) ? nullptr : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  return fails(kMemory, ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) noexcept {
  return fails(kMemory, ENOMEM) ? nullptr : __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails(kMemory, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) noexcept {
  return aligned_alloc(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  *memory = aligned_alloc(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  // NOLINTBEGIN(performance-no-int-to-ptr): the system's results
  return fails(kMap, ENOMEM) ? MAP_FAILED
                             : reinterpret_cast<void*>(system_call(SYS_mmap, address, size,
                                                                   protection, flags, fd, offset));
  // NOLINTEND(performance-no-int-to-ptr)
}
void* mmap64(void* address, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return mmap(address, size, protection, flags, fd, offset);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return opened(folder, path, flags, mode);
}

ssize_t read(int fd, void* into, size_t size) {
  return fails(kRead, EIO) ? -1 : system_call(SYS_read, fd, into, size);
}
ssize_t write(int fd, const void* from, size_t size) {
  return fails(kWrite, ENOSPC) ? -1 : system_call(SYS_write, fd, from, size);
}
int close(int fd) {
  const bool is_to_fail = fails(kClose, EIO);
  const auto closed = static_cast<int>(system_call(SYS_close, fd));
  errno = is_to_fail ? EIO : errno;
  return is_to_fail ? -1 : closed;
}

int rename(const char* from, const char* to) noexcept {
  return fails(kRename, EIO) ? -1 : static_cast<int>(system_call(SYS_rename, from, to));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return fails(kRename, EIO)
             ? -1
             : static_cast<int>(system_call(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int stat(const char* path, struct stat* info) noexcept {
  return looked_at(AT_FDCWD, path, info, 0);
}
int lstat(const char* path, struct stat* info) noexcept {
  return looked_at(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}
int fstat(int fd, struct stat* info) noexcept {
  return looked_at(fd, "", info, AT_EMPTY_PATH);
}
int stat64(const char* path, struct stat64* info) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(info));
}
int lstat64(const char* path, struct stat64* info) noexcept {
  return lstat(path, reinterpret_cast<struct stat*>(info));
}
int fstat64(int fd, struct stat64* info) noexcept {
  return fstat(fd, reinterpret_cast<struct stat*>(info));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return fails(kThread, EAGAIN) ? EAGAIN : create(thread, attributes, run, argument);
}

}  // extern "C"
