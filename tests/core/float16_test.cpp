#include "attnviz/core/stored_matrix.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

namespace attnviz {

TEST_CASE("float_from_half: values from the standard's tables") {
  CHECK(float_from_half(0x3C00) == 1.0f);
  CHECK(float_from_half(0xC000) == -2.0f);
  CHECK(float_from_half(0x7BFF) == 65504.0f);
  CHECK(float_from_half(0x0400) == std::ldexp(1.0f, -14));  // smallest normal
  CHECK(float_from_half(0x0001) == std::ldexp(1.0f, -24));  // smallest subnormal
  CHECK(float_from_half(0x8001) == -std::ldexp(1.0f, -24));
  CHECK(float_from_half(0x3555) == doctest::Approx(1.0 / 3.0).epsilon(0.001));
  CHECK(float_from_half(0x7C00) == INFINITY);
  CHECK(float_from_half(0xFC00) == -INFINITY);
  CHECK(std::isnan(float_from_half(0x7E00)));
  CHECK(std::signbit(float_from_half(0x8000)));
  CHECK(float_from_half(0x8000) == 0.0f);
}

TEST_CASE("float_from_half: every finite value is sign, exponent and fraction put together") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 0x1F);
    if (exponent == 0x1F) {
      continue;
    }
    const double fraction = static_cast<double>(bits & 0x3FF) / 1024.0;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15);
    const float expected = static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
    REQUIRE(float_from_half(static_cast<std::uint16_t>(bits)) == expected);
  }
}

}  // namespace attnviz
