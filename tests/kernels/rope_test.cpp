#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/simd_targets.h"
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

TEST_CASE("rope: position 0 changes nothing, position 1 rotates the first pair by one radian") {
  std::vector<float> x = {1.0f, 2.0f, 3.0f, 4.0f, 1.0f, 0.0f, 0.0f, 1.0f};
  kernels::rope({x.data(), 2, 4, 4}, 0, 10000.0f);
  CHECK(std::vector<float>(x.begin(), x.begin() + 4) == std::vector<float>{1, 2, 3, 4});
  // Pairs are (0, 2) and (1, 3); the second rotates by 10000^(-2/4) = 0.01 radians.
  CHECK(std::abs(x[4] - 0.5403023) < 1e-6);
  CHECK(std::abs(x[6] - 0.8414710) < 1e-6);
  CHECK(std::abs(x[5] - -0.0099998) < 1e-6);
  CHECK(std::abs(x[7] - 0.9999500) < 1e-6);
}

TEST_CASE("rope: a score depends only on the distance of its tokens") {
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

TEST_CASE("rope: an odd last dimension is unchanged, and so is memory between rows") {
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

TEST_CASE("rope: rows in blocks are rotated as in one piece") {
  std::vector<float> whole = test::random_values(10 * 6, 3);
  std::vector<float> blocks = whole;
  kernels::rope({whole.data(), 10, 6, 6}, 0, 10000.0f);
  kernels::rope({blocks.data(), 4, 6, 6}, 0, 10000.0f);
  kernels::rope({blocks.data() + 4 * 6, 6, 6, 6}, 4, 10000.0f);
  CHECK(whole == blocks);
}

TEST_CASE("rope_table: a row is the cosines, then the sines, of a position's angles") {
  const std::vector<double> frequencies = {1.0, 0.1, 1e-5};
  test::PoisonedMatrix table(3, 6);
  kernels::rope_table(100'000, frequencies, 1.5, table.view());
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < 3; ++i) {
      const double angle = (100'000.0 + static_cast<double>(r)) * frequencies[i];
      CHECK(std::abs(static_cast<double>(table.view()(r, i)) - 1.5 * std::cos(angle)) < 2e-7);
      CHECK(std::abs(static_cast<double>(table.view()(r, 3 + i)) - 1.5 * std::sin(angle)) < 2e-7);
    }
  }
  CHECK(table.padding_is_untouched());
}

TEST_CASE("rope_rotate: rotates the pairs of its pairing and nothing else, at every size") {
  using kernels::RopePairing;
  test::for_each_target([] {
    for (std::size_t n_pairs = 1; n_pairs <= 130; ++n_pairs) {
      CAPTURE(n_pairs);
      std::vector<double> frequencies(n_pairs);
      for (std::size_t i = 0; i < n_pairs; ++i) {
        frequencies[i] = 1.0 / static_cast<double>(1 + i);
      }
      test::PoisonedMatrix table(3, 2 * n_pairs);
      kernels::rope_table(7, frequencies, 1.25, table.view());
      for (const RopePairing pairing : {RopePairing::kHalves, RopePairing::kNeighbours}) {
        const std::size_t d_head = 2 * n_pairs + n_pairs % 4;  // some of which are unchanged
        const std::vector<float> values = test::random_values(3 * d_head, n_pairs);
        std::vector<double> expected(values.begin(), values.end());
        test::PoisonedMatrix x(3, d_head);
        for (std::size_t r = 0; r < 3; ++r) {
          for (std::size_t i = 0; i < n_pairs; ++i) {
            const bool halves = pairing == RopePairing::kHalves;
            const std::size_t one = r * d_head + (halves ? i : 2 * i);
            const std::size_t other = r * d_head + (halves ? n_pairs + i : 2 * i + 1);
            const double angle = static_cast<double>(7 + r) * frequencies[i];
            const double a = static_cast<double>(values[one]) * 1.25;
            const double b = static_cast<double>(values[other]) * 1.25;
            expected[one] = a * std::cos(angle) - b * std::sin(angle);
            expected[other] = a * std::sin(angle) + b * std::cos(angle);
          }
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          x.view()(i / d_head, i % d_head) = values[i];
        }
        kernels::rope_rotate(table.view(), pairing, x.view());
        REQUIRE(test::largest_difference(x.view(), expected) < 4e-7);
        for (std::size_t r = 0; r < 3; ++r) {
          for (std::size_t c = 2 * n_pairs; c < d_head; ++c) {
            REQUIRE(x.view()(r, c) == values[r * d_head + c]);
          }
        }
        REQUIRE(x.padding_is_untouched());
      }
    }
  });
}

TEST_CASE("rope_rotate: with a table of its frequencies it is bit-identical to rope") {
  std::vector<double> frequencies(32);
  for (std::size_t i = 0; i < 32; ++i) {
    frequencies[i] = std::pow(10000.0, -2.0 * static_cast<double>(i) / 64.0);
  }
  const std::vector<float> values = test::random_values(5 * 64, 9);
  test::for_each_target([&] {
    std::vector<float> turned = values;
    std::vector<float> rotated = values;
    test::PoisonedMatrix table(5, 64);
    kernels::rope({turned.data(), 5, 64, 64}, 1000, 10000.0f);
    kernels::rope_table(1000, frequencies, 1.0, table.view());
    kernels::rope_rotate(table.view(), kernels::RopePairing::kHalves, {rotated.data(), 5, 64, 64});
    CHECK(rotated == turned);
  });
}

}  // namespace attnviz
