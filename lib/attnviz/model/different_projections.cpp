#include "attnviz/model/different_projections.h"

#include <algorithm>
#include <cstdint>

namespace attnviz {

namespace {

// Up to this size a linear search is faster than a table.
constexpr std::size_t kFew = 64;

}  // namespace

// The offsets between projections come from a file, which may be crafted as multiples of a table's
// size. Adding the base address, which the system chooses, makes the hashes unpredictable.
std::size_t DifferentProjections::Hash::operator()(const Projection* one) const noexcept {
  const std::uint64_t place =
      reinterpret_cast<std::uintptr_t>(one->weight.data) + std::uint64_t{one->weight.skip};
  return static_cast<std::size_t>((place ^ place >> 32) * 0x9E3779B97F4A7C15u >> 16);
}

std::size_t DifferentProjections::place_of(const Projection& projection) const noexcept {
  if (!places_.empty()) {
    const auto found = places_.find(&projection);
    return found == places_.end() ? list_.size() : found->second;
  }
  const auto found = std::ranges::find_if(
      list_, [&projection](const Projection* other) { return projection == *other; });
  return static_cast<std::size_t>(found - list_.begin());
}

std::size_t DifferentProjections::add(const Projection& projection) {
  const std::size_t place = place_of(projection);
  if (place < list_.size()) {
    return place;
  }
  list_.push_back(&projection);
  for (std::size_t i = places_.size(); list_.size() > kFew && i < list_.size(); ++i) {
    places_.emplace(list_[i], i);
  }
  return place;
}

}  // namespace attnviz
