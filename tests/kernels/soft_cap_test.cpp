#include "attnviz/kernels/row_kernels.h"

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

TEST_CASE("soft_cap: every size agrees with double precision and touches only its numbers") {
  for_each_target([] {
    for (std::size_t n = 1; n <= 130; ++n) {
      CAPTURE(n);
      const std::vector<float> x = test::random_values(n, n);
      test::PoisonedMatrix scores(1, n);
      for (std::size_t i = 0; i < n; ++i) {
        scores.view()(0, i) = x[i] * 300.0f;
      }
      const std::size_t first = n / 3;
      const std::size_t end = n - n / 4;
      kernels::soft_cap(scores.view().row(0).subspan(first, end - first), 20.0f, 0.125f);
      for (std::size_t i = 0; i < n; ++i) {
        const float before = x[i] * 300.0f;
        const bool is_seen = i >= first && i < end;
        const double exact = is_seen ? expected(before, 0.125, 20.0) : static_cast<double>(before);
        REQUIRE(std::abs(static_cast<double>(scores.view()(0, i)) - exact) <=
                (is_seen ? 1e-6 * std::abs(exact) : 0.0));
      }
      REQUIRE(scores.padding_is_untouched());
    }
  });
}

TEST_CASE("soft_cap: large scores become the cap, NaN stays NaN") {
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
