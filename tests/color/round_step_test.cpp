#include "attnviz/color/round_step.h"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

namespace attnviz {

TEST_CASE("round_step: the least round number that holds the number") {
  const std::pair<double, double> cases[] = {
      {1.0, 1.0}, {0.9, 1.0},  {0.5, 0.5},   {0.21, 0.5},    {0.2, 0.2},   {0.018, 0.02},
      {1.5, 2.0}, {0.11, 0.2}, {0.05, 0.05}, {0.001, 0.001}, {6e5, 1e6},   {0.0011, 0.002},
      {3.0, 5.0}, {1e3, 1e3},  {7e-9, 1e-8}, {0.3, 0.5},     {51.0, 100.0}};
  for (const auto& number_and_step : cases) {
    CAPTURE(number_and_step.first);
    CHECK(round_step(number_and_step.first) == doctest::Approx(number_and_step.second));
  }
}

TEST_CASE("round_step: a float's rounding does not make a step of its own") {
  for (const float number : {0.1f, 0.2f, 0.5f, 0.01f, 0.02f, 0.05f}) {
    CHECK(round_step(number) == doctest::Approx(number));
  }
}

TEST_CASE("round_step: where nothing is to be held a scale goes to 1") {
  CHECK(round_step(0.0) == 1.0);
  CHECK(round_step(-2.0) == 1.0);
  CHECK(round_step(std::numeric_limits<double>::infinity()) == 1.0);
  CHECK(round_step(std::numeric_limits<double>::quiet_NaN()) == 1.0);
}

}  // namespace attnviz
