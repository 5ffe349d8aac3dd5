#include "attnviz/attention/engine.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace attnviz {

TEST_CASE("the most probable tokens: the largest logits, with the softmax over all of them") {
  // ln 1, ln 4, ln 2 and ln 1: probabilities 1/8, 1/2, 1/4, 1/8.
  const std::vector<float> logits = {0.0f, std::log(4.0f), std::log(2.0f), 0.0f};
  const std::vector<ProbableToken> top = most_probable(logits, 3);
  REQUIRE(top.size() == 3);
  CHECK(top[0].id == 1);
  CHECK(top[0].probability == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(top[0].logit == logits[1]);
  CHECK(top[1].id == 2);
  CHECK(top[1].probability == doctest::Approx(0.25).epsilon(1e-6));
  CHECK(top[2].id == 0);  // the smaller id of two equal ones
  CHECK(top[2].probability == doctest::Approx(0.125).epsilon(1e-6));
}

TEST_CASE("the most probable tokens: logits whose exponentials would overflow a float") {
  const std::vector<ProbableToken> top =
      most_probable(std::vector<float>{-3e38f, 3e38f, 500.0f}, 9);
  REQUIRE(top.size() == 3);
  CHECK(top[0].id == 1);
  CHECK(top[0].probability == 1.0);
  CHECK(top[1].id == 2);
  CHECK(top[1].probability == 0.0);
  CHECK(top[2].id == 0);
}

}  // namespace attnviz
