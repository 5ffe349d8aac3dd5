#include "attnviz/attention/head_math.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace attnviz {
namespace {

std::vector<double> slopes(std::size_t n_heads) {
  std::vector<double> all;
  for (std::size_t head = 0; head < n_heads; ++head) {
    all.push_back(alibi_slope(head, n_heads));
  }
  return all;
}

}  // namespace

TEST_CASE("alibi: eight heads have the paper's slopes 1/2, 1/4, … 1/256") {
  CHECK(slopes(8) ==
        std::vector<double>{0.5, 0.25, 0.125, 0.0625, 1.0 / 32, 1.0 / 64, 1.0 / 128, 1.0 / 256});
}

TEST_CASE("alibi: sixteen heads also have the slopes in between") {
  const std::vector<double> sixteen = slopes(16);
  CHECK(std::abs(sixteen[0] - 1.0 / std::sqrt(2.0)) < 1e-15);
  CHECK(std::abs(sixteen[1] - 0.5) < 1e-15);
  CHECK(std::abs(sixteen[15] - 1.0 / 256) < 1e-15);
}

TEST_CASE("alibi: twelve heads have the slopes of eight, then every other one of sixteen") {
  // From the authors' published code: get_slopes(12).
  const double expected[] = {0.5,       0.25,       0.125,      0.0625,     0.03125,    0.015625,
                             0.0078125, 0.00390625, 0.70710678, 0.35355339, 0.17677669, 0.08838834};
  const std::vector<double> twelve = slopes(12);
  for (std::size_t head = 0; head < 12; ++head) {
    CHECK(std::abs(twelve[head] - expected[head]) < 1e-8);
  }
}

TEST_CASE("alibi: one head and three heads") {
  CHECK(slopes(1) == std::vector<double>{1.0 / 256});
  CHECK(slopes(3) == std::vector<double>{1.0 / 16, 1.0 / 256, 0.25});
}

}  // namespace attnviz
