#include "attnviz/picture/fonts/text_box.h"

#include <doctest/doctest.h>

#include <cmath>

namespace attnviz {

TEST_CASE("line_height: about twice the width of a column, and larger for larger text") {
  for (int column_width = 5; column_width < 13; ++column_width) {
    CAPTURE(column_width);
    CHECK(line_height(column_width) >= 3 * column_width / 2);
    CHECK(line_height(column_width) <= 2 * column_width + 1);
    CHECK(line_height(column_width) < line_height(column_width + 1));
  }
}

TEST_CASE("text_corners: each angle turns the box around its origin") {
  const int high = line_height(7);
  const auto level = text_corners({10, 20}, 3, 7, TextAngle::kLevel);
  CHECK(level[2].x == doctest::Approx(10 + 21));
  CHECK(level[2].y == doctest::Approx(20 + high));
  const auto up = text_corners({10, 20}, 3, 7, TextAngle::kUp);
  CHECK(up[1].x == doctest::Approx(10));
  CHECK(up[1].y == doctest::Approx(20 - 21));
  CHECK(up[3].x == doctest::Approx(10 + high));
  const auto rising = text_corners({0, 0}, 3, 7, TextAngle::kRising);
  CHECK(rising[1].x == doctest::Approx(21 / std::sqrt(2.0)));
  CHECK(rising[1].y == doctest::Approx(-21 / std::sqrt(2.0)));
}

}  // namespace attnviz
