#include "attnviz/core/large_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace attnviz {

namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector of any target
constexpr std::size_t kLargePage = std::size_t{1} << 21;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

[[maybe_unused]] bool is_large(std::size_t bytes) noexcept {
  return bytes >= kLargePage;
}

// Makes fresh pages there at once: each that is written first without it takes a fault, which takes
// several times as long, and on virtual machines ten times. A wish, too.
void make_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPage = 4096;            // madvise() refuses what is no page's begin,
  constexpr std::size_t kFewPages = 16 * kPage;  // and the call has its price
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::size_t before = rounded_up(address, kPage) - address;
  if (bytes >= kFewPages) {
    madvise(static_cast<char*>(data) + before, (bytes - before) / kPage * kPage,
            MADV_POPULATE_WRITE);
  }
#endif
}

#ifdef __linux__

// A wish that may be refused.
void prefer_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

// Whole large pages, cut out of a mapping that is larger by one.
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
