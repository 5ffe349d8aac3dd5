#include "attnviz/kernels/rope.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/naive.h"

namespace attnviz {
namespace {

double dot(ConstMatrix a, std::size_t a_row, ConstMatrix b, std::size_t b_row) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.cols; ++i) {
    sum += static_cast<double>(a(a_row, i)) * static_cast<double>(b(b_row, i));
  }
  return sum;
}

}  // namespace

TEST_CASE("rope: position 0 changes nothing, position 1 turns the first pair by one radian") {
  std::vector<float> x = {1.0f, 2.0f, 3.0f, 4.0f, 1.0f, 0.0f, 0.0f, 1.0f};
  kernels::rope({x.data(), 2, 4, 4}, 0, 10000.0f);
  CHECK(std::vector<float>(x.begin(), x.begin() + 4) == std::vector<float>{1, 2, 3, 4});
  // Pairs are (0, 2) and (1, 3); the second turns by 10000^(-2/4) = 0.01 radians.
  CHECK(std::abs(x[4] - 0.5403023) < 1e-6);
  CHECK(std::abs(x[6] - 0.8414710) < 1e-6);
  CHECK(std::abs(x[5] - -0.0099998) < 1e-6);
  CHECK(std::abs(x[7] - 0.9999500) < 1e-6);
}

TEST_CASE("rope: a score depends on the distance of its tokens only") {
  const std::vector<float> q = test::random_values(16, 1);
  const std::vector<float> k = test::random_values(16, 2);
  const auto score = [&](std::size_t query_position, std::size_t key_position) {
    std::vector<float> turned_q = q;
    std::vector<float> turned_k = k;
    kernels::rope({turned_q.data(), 1, 16, 16}, query_position, 10000.0f);
    kernels::rope({turned_k.data(), 1, 16, 16}, key_position, 10000.0f);
    return dot(test::matrix_over(turned_q, 1, 16), 0, test::matrix_over(turned_k, 1, 16), 0);
  };
  CHECK(std::abs(score(9, 4) - score(5, 0)) < 2e-6);
  CHECK(std::abs(score(100'009, 100'004) - score(5, 0)) < 2e-6);
  CHECK(std::abs(score(9, 4) - score(9, 5)) > 1e-3);
}

TEST_CASE("rope: an odd last dimension stays, and so does what lies between rows") {
  test::PoisonedMatrix x(3, 7);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 7; ++c) {
      x.view()(r, c) = 0.5f;
    }
  }
  kernels::rope(x.view(), 4, 10000.0f);
  for (std::size_t r = 0; r < 3; ++r) {
    CHECK(x.view()(r, 6) == 0.5f);
    CHECK(x.view()(r, 0) != 0.5f);
  }
  CHECK(x.padding_is_untouched());

  float single = 2.0f;
  kernels::rope({&single, 1, 1, 1}, 7, 10000.0f);
  CHECK(single == 2.0f);
}

TEST_CASE("rope: rows handed over in blocks turn as in one piece") {
  std::vector<float> whole = test::random_values(10 * 6, 3);
  std::vector<float> blocks = whole;
  kernels::rope({whole.data(), 10, 6, 6}, 0, 10000.0f);
  kernels::rope({blocks.data(), 4, 6, 6}, 0, 10000.0f);
  kernels::rope({blocks.data() + 4 * 6, 6, 6, 6}, 4, 10000.0f);
  CHECK(whole == blocks);
}

}  // namespace attnviz
