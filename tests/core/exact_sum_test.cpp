#include "attnviz/core/exact_sum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace attnviz {

TEST_CASE("fixed point: a sum is bit-identical in any order, and the mean is that of doubles") {
  constexpr std::size_t kCount = 1000;
  std::vector<float> terms(kCount);
  std::minstd_rand random(1);
  double expected = 0.0;
  for (float& term : terms) {
    term = static_cast<float>(random()) / static_cast<float>(std::minstd_rand::max());
    expected += static_cast<double>(term) / static_cast<double>(kCount);
  }
  const FixedPoint fixed(static_cast<double>(kCount));
  const auto sum = [&] {
    std::int64_t total = 0;
    for (const float term : terms) {
      total += fixed.of(term);
    }
    return total;
  };
  const std::int64_t in_order = sum();
  CHECK(std::abs(static_cast<double>(fixed.mean(in_order, kCount)) - expected) < 1e-7);
  std::sort(terms.begin(), terms.end());
  CHECK(sum() == in_order);
  std::reverse(terms.begin(), terms.end());
  CHECK(sum() == in_order);
}

TEST_CASE("fixed point: as many terms as the bound allows fit, and whole numbers stay exact") {
  const FixedPoint fixed(7.0);
  CHECK(fixed.mean(7 * fixed.of(1.0f), 1) == 7.0f);
  CHECK(fixed.mean(7 * fixed.of(1.0f), 7) == 1.0f);
  CHECK(fixed.mean(fixed.of(0.0f), 3) == 0.0f);
  CHECK(7 * fixed.of(1.0005f) > 0);  // a little more than the bound
}

TEST_CASE("coarse terms: multiples of 2^-36, the nearest ones") {
  constexpr double kUnit = 0x1p-36;
  for (const double term : {0.0, 0.1, 1.0 / 3.0, 0.999, 123.456, 16383.9, 0x1p-37, 3 * 0x1p-37}) {
    CAPTURE(term);
    const double found = coarsened(term);
    CHECK(found / kUnit == std::nearbyint(term / kUnit));
    CHECK(std::abs(found - term) <= kUnit / 2.0);
  }
}

}  // namespace attnviz
