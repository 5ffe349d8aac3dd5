#include "attnviz/report/words/number_formats.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>

namespace attnviz {

TEST_CASE("NumberFormat: weights have as many decimals as fit, at most three") {
  CHECK(NumberFormat(0.0f, 1.0f, 7).text(0.4632f) == "0.463");
  CHECK(NumberFormat(0.0f, 1.0f, 5).text(0.4632f) == "0.463");
  CHECK(NumberFormat(0.0f, 1.0f, 4).text(0.4632f) == ".463");
  CHECK(NumberFormat(0.0f, 1.0f, 3).text(0.4632f) == ".46");
  CHECK(NumberFormat(0.0f, 1.0f, 2).text(0.4632f) == ".5");
}

TEST_CASE("NumberFormat: a weight of 1 has the width of the others") {
  CHECK(NumberFormat(0.0f, 1.0f, 5).text(1.0f) == "1.000");
  CHECK(NumberFormat(0.0f, 1.0f, 4).text(1.0f) == "1.00");
  CHECK(NumberFormat(0.0f, 1.0f, 3).text(1.0f) == "1.0");
  CHECK(NumberFormat(0.0f, 1.0f, 3).text(0.999f) == "1.0");
  CHECK(NumberFormat(0.0f, 1.0f, 3).text(0.0f) == ".00");
}

TEST_CASE("NumberFormat: values outside of [0, 1] keep their sign and whole part") {
  const NumberFormat format(-12.5f, 3.0f, 6);
  CHECK(format.text(-12.5f) == "-12.50");
  CHECK(format.text(0.25f) == "0.25");
  CHECK(NumberFormat(-12.5f, 3.0f, 3).text(-12.5f) == "-12");
}

TEST_CASE("NumberFormat: no text is wider than the room, and none shows a wrong number") {
  CHECK(NumberFormat(0.0f, 1.0f, 3).text(123456.0f) == "###");
  CHECK(NumberFormat(0.0f, 1.0f, 5).text(123456.0f) == "1e+05");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(NumberFormat(0.0f, 1.0f, 3).text(kInfinity) == "inf");
  CHECK(NumberFormat(0.0f, 1.0f, 4).text(kNan) == "nan");
  for (std::size_t width = 1; width < 8; ++width) {
    for (const float value : {0.0f, 0.5f, 1.0f, 1.04f, -0.5f, 1e30f, -kInfinity, kNan}) {
      CAPTURE(width);
      CAPTURE(value);
      CHECK(NumberFormat(0.0f, 1.0f, width).text(value).size() <= width);
      CHECK(NumberFormat(-1e9f, 1e9f, width).text(value).size() <= width);
    }
  }
}

TEST_CASE("number_width: the width of a number with a given count of decimals") {
  CHECK(number_width(0.0f, 1.0f, 2) == 3);
  CHECK(number_width(-1.0f, 1.0f, 2) == 5);
  CHECK(number_width(0.0f, 250.0f, 0) == 3);
}

}  // namespace attnviz
