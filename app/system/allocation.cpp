// Ends the program when a library's allocation fails, as for the program's own objects: not all
// libraries recover from that.
#include <cstdlib>

#if defined(__GLIBC__) && !defined(ATTNVIZ_IS_INSTRUMENTED)

#include <dlfcn.h>

#include <atomic>
#include <cerrno>

#include "system/process.h"

// The C library's own functions, for allocations before others can be found.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* data, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
}

namespace {

// The malloc() and the like that would be called without those below: the C library's, or those of
// another library that was loaded before it.
template <class Function>
class Next {
 public:
  constexpr Next(const char* name, Function* own) noexcept : name_(name), own_(own) {}

  Function* find() noexcept {
    if (Function* const known = found_.load()) {
      return known;
    }
    if (is_looking_.exchange(true)) {
      return own_;  // the search allocates memory too
    }
    auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    found_.store(found != nullptr ? found : own_);
    return found_.load();
  }

 private:
  const char* name_;
  Function* own_;
  std::atomic<Function*> found_ = nullptr;
  std::atomic<bool> is_looking_ = false;
};

constinit Next<void*(std::size_t)> next_malloc("malloc", __libc_malloc);
constinit Next<void*(std::size_t, std::size_t)> next_calloc("calloc", __libc_calloc);
constinit Next<void*(void*, std::size_t)> next_realloc("realloc", __libc_realloc);

int own_memalign(void** data, std::size_t alignment, std::size_t size) {
  *data = __libc_memalign(alignment, size);
  return *data == nullptr ? ENOMEM : 0;
}
constinit Next<int(void**, std::size_t, std::size_t)> next_memalign("posix_memalign", own_memalign);

void* given(void* data, bool is_nothing) noexcept {
  if (data == nullptr && !is_nothing) {
    attnviz::app::end_out_of_memory();
  }
  return data;
}

}  // namespace

// These replace the C library's functions for the program and everything it loads, to which they
// must be visible.
extern "C" {

__attribute__((visibility("default"))) void* malloc(std::size_t size) noexcept {
  return given(next_malloc.find()(size), size == 0);
}

__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) noexcept {
  return given(next_calloc.find()(count, size), count == 0 || size == 0);
}

__attribute__((visibility("default"))) void* realloc(void* data, std::size_t size) noexcept {
  return given(next_realloc.find()(data, size), size == 0);
}

__attribute__((visibility("default"))) int posix_memalign(void** data, std::size_t alignment,
                                                          std::size_t size) noexcept {
  const int error = next_memalign.find()(data, alignment, size);
  given(nullptr, error != ENOMEM);
  return error;
}
}

#endif
