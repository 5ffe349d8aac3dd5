#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

// Shares that add up to 1, every third of them 0.
std::vector<double> some_shares(std::size_t n) {
  std::vector<double> shares;
  double sum = 0.0;
  for (const float value : test::random_values(n, 3)) {
    const double share = shares.size() % 3 == 2 ? 0.0 : std::exp(20.0 * static_cast<double>(value));
    shares.push_back(share);
    sum += share;
  }
  for (double& share : shares) {
    share /= sum;
  }
  return shares;
}

}  // namespace

TEST_CASE("entropy_sums: agree with plain loops, at every length, skipping zeros") {
  test::for_each_target([] {
    for (const std::size_t n : {1u, 2u, 3u, 7u, 8u, 9u, 100u, 1023u}) {
      CAPTURE(n);
      const std::vector<double> shares = some_shares(n);
      const double even = 1.0 / static_cast<double>(n + 1);
      double bits = 0.0, mixed = 0.0;
      std::size_t count = 0;
      for (const double share : shares) {
        if (share > 0.0) {
          bits -= share * std::log2(share);
          mixed -= (share + even) / 2.0 * std::log2((share + even) / 2.0);
          ++count;
        }
      }
      const kernels::EntropySums found = kernels::entropy_sums(shares, even);
      CHECK(found.bits == doctest::Approx(bits).epsilon(1e-13));
      CHECK(found.mixed_bits == doctest::Approx(mixed).epsilon(1e-13));
      CHECK(found.count == count);
    }
  });
}

TEST_CASE("entropy_sums: a single share has no entropy, the smallest numbers nearly none") {
  test::for_each_target([] {
    const std::vector<double> one = {0.0, 1.0, 0.0};
    CHECK(kernels::entropy_sums(one, 0.5).bits == 0.0);
    const std::vector<double> least = {5e-324, 1e-310, 1.0};
    const kernels::EntropySums found = kernels::entropy_sums(least, 0.5);
    CHECK(found.bits >= 0.0);
    CHECK(found.bits < 1e-300);
    CHECK(found.count == 3);
    CHECK(kernels::entropy_sums({}, 0.5).count == 0);
  });
}

TEST_CASE("log_sum_exp, divergence: agree with plain loops, for logits of any size") {
  test::for_each_target([] {
    for (const std::size_t n : {1u, 2u, 3u, 7u, 8u, 9u, 100u, 1023u}) {
      for (const float offset : {0.0f, -3000.0f, 3000.0f}) {
        CAPTURE(n);
        CAPTURE(offset);
        std::vector<float> x = test::random_values(n, 1), y = test::random_values(n, 2);
        double x_sum = 0.0, y_sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          x[i] *= 30.0f;
          y[i] = 30.0f * y[i] + offset;
          x_sum += std::exp(static_cast<double>(x[i]));
          y_sum += std::exp(static_cast<double>(y[i]) - static_cast<double>(offset));
        }
        const double log_x = std::log(x_sum);
        const double log_y = std::log(y_sum) + static_cast<double>(offset);
        double nats = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          const double log_p = static_cast<double>(x[i]) - log_x;
          nats += std::exp(log_p) * (log_p - (static_cast<double>(y[i]) - log_y));
        }
        CHECK(kernels::log_sum_exp(x) == doctest::Approx(log_x).epsilon(1e-13));
        CHECK(kernels::log_sum_exp(y) == doctest::Approx(log_y).epsilon(1e-13));
        CHECK(std::abs(kernels::divergence(x, log_x, y, log_y) - nats) < 1e-11);
        CHECK(kernels::divergence(x, log_x, x, log_x) == 0.0);
      }
    }
  });
}

}  // namespace attnviz
