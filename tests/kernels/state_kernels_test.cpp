#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "attnviz/core/tensor.h"
#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

struct Shape {
  std::size_t n;
  std::size_t m;
};

// Shorter than, equal to and just past every vector width, then Qwen 3.5's.
constexpr Shape kShapes[] = {{1, 1}, {3, 7}, {8, 8}, {5, 17}, {16, 33}, {128, 128}};

double left_times(std::span<const float> x, ConstMatrix state, std::size_t column) {
  double sum = 0.0;
  for (std::size_t row = 0; row < state.rows; ++row) {
    sum += static_cast<double>(x[row]) * static_cast<double>(state(row, column));
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "states: reads and writes agree with double precision, and nothing past their ends is "
    "touched") {
  test::for_each_target([] {
    for (const Shape& shape : kShapes) {
      const std::size_t n = shape.n;
      const std::size_t m = shape.m;
      CAPTURE(n);
      CAPTURE(m);
      const std::vector<float> k = test::random_values(n, 1);
      const std::vector<float> q = test::random_values(n, 2);
      const std::vector<float> w = test::random_values(m, 3);
      std::vector<float> numbers = test::random_values(n * (m + 1), 4);
      const std::vector<float> before = numbers;
      const Matrix state{numbers.data(), n, m, m + 1};
      std::vector<float> out(m + 1, -7.0f);

      kernels::read_state(state, k, std::span(out).first(m));
      for (std::size_t i = 0; i < m; ++i) {
        REQUIRE(std::abs(static_cast<double>(out[i]) - left_times(k, state, i)) < 1e-5);
      }
      CHECK(out[m] == -7.0f);

      kernels::write_state(0.75f, k, w, q, state, std::span(out).first(m));
      for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t i = 0; i < m; ++i) {
          const double expected = 0.75 * static_cast<double>(before[row * (m + 1) + i]) +
                                  static_cast<double>(k[row]) * static_cast<double>(w[i]);
          REQUIRE(std::abs(static_cast<double>(state(row, i)) - expected) < 1e-6);
        }
        CHECK(numbers[row * (m + 1) + m] == before[row * (m + 1) + m]);
      }
      for (std::size_t i = 0; i < m; ++i) {
        REQUIRE(std::abs(static_cast<double>(out[i]) - left_times(q, state, i)) < 1e-5);
      }
      CHECK(out[m] == -7.0f);
    }
  });
}

}  // namespace attnviz
