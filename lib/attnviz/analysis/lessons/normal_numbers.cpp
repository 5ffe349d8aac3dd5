#include "attnviz/analysis/lessons/normal_numbers.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace attnviz {

namespace {

// In (0, 1), from the upper 53 bits.
double uniform(std::uint64_t word) noexcept {
  return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
}

}  // namespace

void fill_normal(const RandomBits& random, std::span<float> out) noexcept {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(uniform(random[i])));
    const double angle = 2.0 * std::numbers::pi * uniform(random[i + 1]);
    out[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < out.size()) {
      out[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }
}

}  // namespace attnviz
