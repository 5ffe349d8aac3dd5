// Softmax step by step, against numbers computed by hand and with Python's math module.
#include "attnviz/analysis/lessons/lesson_numbers.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SoftmaxSteps steps_of(const std::vector<double>& scores, double by = 1.0, double t = 1.0) {
  return softmax_steps(scores, by, t);
}

}  // namespace

TEST_CASE("softmax steps: a textbook's row, divided by √128") {
  const SoftmaxSteps steps = steps_of({2.1, 8.7, 3.2}, 11.31);
  // python3: [math.exp(s / 11.31) for s in (2.1, 8.7, 3.2)] over their sum
  CHECK(steps.weights[0] == doctest::Approx(0.25675).epsilon(1e-4));
  CHECK(steps.weights[1] == doctest::Approx(0.46024).epsilon(1e-4));
  CHECK(steps.weights[2] == doctest::Approx(0.28300).epsilon(1e-4));
  CHECK(steps.divided[1] == doctest::Approx(8.7 / 11.31));
  CHECK(steps.largest == steps.divided[1]);
  CHECK(steps.exponentials[1] == 1.0);
  CHECK(std::accumulate(steps.weights.begin(), steps.weights.end(), 0.0) == doctest::Approx(1.0));
  CHECK(!steps.naive);
}

TEST_CASE("softmax steps: equal scores share evenly, at the largest entropy") {
  const SoftmaxSteps steps = steps_of({-1.5, -1.5, -1.5, -1.5});
  for (const double weight : steps.weights) {
    CHECK(weight == 0.25);
  }
  CHECK(steps.entropy_bits == doctest::Approx(2.0));
  CHECK(steps_of({5.0}).weights[0] == 1.0);
  CHECK(steps_of({5.0}).entropy_bits == 0.0);
}

TEST_CASE("softmax steps: the temperature is a further divisor") {
  const SoftmaxSteps steps = steps_of({1.0, 3.0}, 2.0, 0.5);
  CHECK(steps.divided[1] == doctest::Approx(3.0));
  CHECK(steps.weights[1] == doctest::Approx(1.0 / (1.0 + std::exp(-2.0))));
}

TEST_CASE("softmax steps: the naive form fails where a float's exp overflows or underflows") {
  const SoftmaxSteps above = steps_of({1000.0, 1001.0, -1000.0});
  REQUIRE(above.naive);
  CHECK(above.naive->overflows());
  CHECK(std::isinf(above.naive->exponentials[0]));
  CHECK(std::isnan(above.naive->weights[1]));
  CHECK(above.naive->weights[2] == 0.0f);
  CHECK(above.weights[1] == doctest::Approx(1.0 / (1.0 + std::exp(-1.0))));
  const SoftmaxSteps below = steps_of({-200.0, -201.0});
  REQUIRE(below.naive);
  CHECK(!below.naive->overflows());
  CHECK(below.naive->sum == 0.0f);
  CHECK(std::isnan(below.naive->weights[0]));
  CHECK(!steps_of({88.0, 80.0}).naive);
  CHECK(steps_of({89.0, 80.0}).naive);
}

TEST_CASE("softmax steps: masked scores get weight 0, and a fully masked row has no weights") {
  const SoftmaxSteps some = steps_of({-kInfinity, 0.0, -kInfinity});
  CHECK(some.weights == std::vector<double>{0.0, 1.0, 0.0});
  CHECK(some.is_masked(0));
  CHECK(!some.is_masked(1));
  CHECK(some.n_visible() == 1);
  const SoftmaxSteps none = steps_of({-kInfinity, -kInfinity});
  CHECK(none.all_masked());
  CHECK(none.weights == std::vector<double>{0.0, 0.0});
  CHECK(none.entropy_bits == 0.0);
  CHECK(none.largest == 0.0);
  CHECK(!none.naive);
}

TEST_CASE("softmax steps: invalid scores and divisors are refused") {
  CHECK_THROWS_AS(steps_of({}), Error);
  CHECK_THROWS_AS(steps_of({1.0, std::nan("")}), Error);
  CHECK_THROWS_AS(steps_of({kInfinity}), Error);
  CHECK_THROWS_AS(steps_of({1.0}, 0.0), Error);
  CHECK_THROWS_AS(steps_of({1.0}, -2.0), Error);
  CHECK_THROWS_AS(steps_of({1.0}, 1.0, 0.0), Error);
  CHECK_THROWS_AS(steps_of({1e300}, 1e-300), Error);
}

}  // namespace attnviz
