#include "attnviz/attention/row_weights.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace attnviz {
namespace {

std::vector<float> dropped(const Dropout& dropout, HeadId head, std::size_t query,
                           std::size_t first_key = 0, std::size_t n = 1000) {
  std::vector<float> weights(n, 0.5f);
  dropout.apply(head, query, first_key, weights);
  return weights;
}

}  // namespace

TEST_CASE("dropout: about a share P of weights becomes 0, the others are divided by 1 - P") {
  for (const float rate : {0.1f, 0.25f, 0.5f, 0.9f}) {
    CAPTURE(rate);
    const std::size_t n = 100'000;
    const std::vector<float> weights = dropped({rate, 3}, {0, 0}, 7, 0, n);
    std::size_t n_dropped = 0;
    for (const float weight : weights) {
      if (weight == 0.0f) {
        ++n_dropped;
      } else {
        REQUIRE(std::abs(weight - 0.5f / (1.0f - rate)) < 1e-6f * weight);
      }
    }
    // Within five standard deviations.
    const auto p = static_cast<double>(rate);
    const auto draws = static_cast<double>(n);
    const double spread = 5.0 * std::sqrt(p * (1.0 - p) * draws);
    CHECK(std::abs(static_cast<double>(n_dropped) - p * draws) < spread);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    CHECK(std::abs(sum - 0.5 * draws) < 0.5 * spread / (1.0 - p));  // the expected sum is unchanged
  }
}

TEST_CASE("dropout: the same seed drops the same weights, another seed or name drops others") {
  const std::vector<float> first = dropped({0.5f, 1}, {0, 0}, 0);
  CHECK(dropped({0.5f, 1}, {0, 0}, 0) == first);
  CHECK(dropped({0.5f, 2}, {0, 0}, 0) != first);
  CHECK(dropped({0.5f, 1}, {1, 0}, 0) != first);
  CHECK(dropped({0.5f, 1}, {0, 1}, 0) != first);
  CHECK(dropped({0.5f, 1}, {0, 0}, 1) != first);
}

TEST_CASE("dropout: whether a key is dropped does not depend on where the range begins") {
  const std::vector<float> whole = dropped({0.5f, 1}, {2, 3}, 4, 0, 100);
  const std::vector<float> tail = dropped({0.5f, 1}, {2, 3}, 4, 40, 60);
  CHECK(std::vector<float>(whole.begin() + 40, whole.end()) == tail);
}

}  // namespace attnviz
