#include "attnviz/kernels/soft_cap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using test::for_each_target;

double expected(float x, double factor, double cap) {
  return cap * std::tanh(factor * static_cast<double>(x) / cap);
}

}  // namespace

TEST_CASE("soft_cap: every size agrees with double precision and touches its ranges only") {
  for_each_target([] {
    for (std::size_t n = 1; n <= 130; ++n) {
      CAPTURE(n);
      const std::vector<float> x = test::random_values(3 * n, n);
      test::PoisonedMatrix scores(3, n);
      for (std::size_t i = 0; i < 3 * n; ++i) {
        scores.view()(i / n, i % n) = x[i] * 300.0f;
      }
      // Keys 5 and on; the second row sees nothing.
      const std::vector<kernels::KeyRange> ranges = {
          {5, 5 + n}, {9, 9}, {5 + n / 3, 5 + n - n / 4}};
      kernels::soft_cap(scores.view(), ranges, 5, 0.125f, 20.0f);
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < n; ++c) {
          const float before = x[r * n + c] * 300.0f;
          const bool is_seen = 5 + c >= ranges[r].first && 5 + c < ranges[r].end;
          const double exact =
              is_seen ? expected(before, 0.125, 20.0) : static_cast<double>(before);
          REQUIRE(std::abs(static_cast<double>(scores.view()(r, c)) - exact) <=
                  (is_seen ? 1e-6 * std::abs(exact) : 0.0));
        }
      }
      REQUIRE(scores.padding_is_untouched());
    }
  });
}

TEST_CASE("soft_cap: large scores become the cap, NaN stays") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_target([] {
    std::vector<float> x = {1e30f, -1e30f, kInfinity, -kInfinity, 0.0f, kInfinity - kInfinity,
                            30.0f};
    kernels::soft_cap(x, 30.0f);
    CHECK(std::abs(x[0] - 30.0f) < 1e-4f);
    CHECK(std::abs(x[1] - -30.0f) < 1e-4f);
    CHECK(std::abs(x[2] - 30.0f) < 1e-4f);
    CHECK(std::abs(x[3] - -30.0f) < 1e-4f);
    CHECK(x[4] == 0.0f);
    CHECK(std::isnan(x[5]));
    CHECK(std::abs(static_cast<double>(x[6]) - 30.0 * 0.76159415595576489) < 1e-4);  // 30 tanh 1
  });
}

}  // namespace attnviz
