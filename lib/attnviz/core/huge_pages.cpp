#include "attnviz/core/huge_pages.h"

#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace attnviz {

void prefer_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t size) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  auto* const bytes = static_cast<char*>(data);
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t skipped = (kPage - begin % kPage) % kPage;
  if (size < skipped + kPage) {
    return;
  }
  madvise(bytes + skipped, (size - skipped) / kPage * kPage, MADV_HUGEPAGE);
#endif
}

}  // namespace attnviz
