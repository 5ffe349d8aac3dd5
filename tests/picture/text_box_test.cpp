#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "attnviz/picture/fonts/glyphs.h"

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

using Order = std::vector<std::size_t>;

TEST_CASE("visual_order: right-to-left items are reversed, numbers inside them are not") {
  CHECK(visual_order({}).empty());
  CHECK(visual_order(std::vector<std::uint8_t>{0, 0, 0}) == Order{0, 1, 2});
  CHECK(visual_order(std::vector<std::uint8_t>{1, 1, 1}) == Order{2, 1, 0});
  CHECK(visual_order(std::vector<std::uint8_t>{0, 1, 1, 0}) == Order{0, 2, 1, 3});
  CHECK(visual_order(std::vector<std::uint8_t>{1, 2, 2, 1}) == Order{3, 1, 2, 0});
}

TEST_CASE("order_text: the first letter gives the direction, numbers keep theirs") {
  CHECK(order_text(U"cat").levels == std::vector<std::uint8_t>{0, 0, 0});
  CHECK(order_text(U"שב").levels == std::vector<std::uint8_t>{1, 1});
  CHECK(order_text(U"aש").levels == std::vector<std::uint8_t>{0, 1});
  CHECK(order_text(U"ש1a").levels == std::vector<std::uint8_t>{1, 2, 2});
}

TEST_CASE("order_text: brackets are mirrored in right-to-left words only") {
  CHECK(order_text(U"(ש)").forms == U")ש(");
  CHECK(order_text(U"(a)").forms == U"(a)");
}

TEST_CASE("isolate_quotes: quoted right-to-left tokens do not reorder the text around them") {
  CHECK(isolate_quotes("\"cat\" (1) looks at \"sat\" (2)") == "\"cat\" (1) looks at \"sat\" (2)");
  CHECK(isolate_quotes("\"שב\" (1)") == "\"\u2068שב\u2069\" (1)");
  CHECK(isolate_quotes("\"ש\\\"\" (1)") == "\"\u2068ש\\\"\u2069\" (1)");

  // In visual order: only the letters within the quotes change positions.
  const OrderedText text = order_text(U"\"\u2068שב\u2069\" (1) at \"\u2068בש\u2069\" (2)");
  std::u32string shown;
  for (const std::size_t i : visual_order(text.levels)) {
    if (text.characters[i] != 0x2068 && text.characters[i] != 0x2069) {
      shown += text.characters[i];
    }
  }
  CHECK(shown == U"\"בש\" (1) at \"שב\" (2)");
}

TEST_CASE("isolate_quotes: a quote without a partner is unchanged") {
  CHECK(isolate_quotes("א 5\" x") == "א 5\" x");
  CHECK(isolate_quotes(R"(א "\" ב "ג" d)") == "א \"\u2068\\\" ב \u2069\"ג\" d");
  CHECK(isolate_quotes(R"("\\" א)") == "\"\u2068\\\\\u2069\" א");  // the token is a backslash
  CHECK(isolate_quotes("א \"b\\") == "א \"b\\");
}

TEST_CASE("balance_isolates: each line has the isolates of the quotes that it contains a part of") {
  std::vector<std::string> lines = {"\"\u2068א", "ב", "ג\u2069\" at \"\u2068ד\u2069\"", "e"};
  balance_isolates(lines);
  CHECK(lines == std::vector<std::string>{"\"\u2068א\u2069", "\u2068ב\u2069",
                                          "\u2068ג\u2069\" at \"\u2068ד\u2069\"", "e"});
}

TEST_CASE("script_of: letters have a script, characters shared by all scripts have none") {
  CHECK(script_of(U'a') == "Latin");
  CHECK(script_of(U'猫') == "Han");
  CHECK(script_of(U'ب') == "Arabic");
  CHECK(script_of(U'!').empty());
  CHECK(script_of(0x301).empty());
  CHECK(script_of(0x1F600).empty());
  CHECK(script_of(0x110000).empty());
}

}  // namespace attnviz
