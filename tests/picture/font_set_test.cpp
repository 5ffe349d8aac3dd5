#include "attnviz/picture/fonts/font_face.h"
#include "support/stopwatch.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace attnviz {
namespace {

using Strings = std::vector<std::string>;

std::size_t columns(const char* text) {
  return FontSet::embedded().columns(text);
}

std::string shorten(const char* text, std::size_t columns) {
  return FontSet::embedded().shorten(text, columns);
}

Strings wrap(const char* text, std::size_t columns, std::size_t max_lines) {
  return FontSet::embedded().wrap(text, columns, max_lines);
}

}  // namespace

TEST_CASE("columns: letters take one column, characters missing in the font a box of two") {
  CHECK(columns("") == 0);
  CHECK(columns("cat") == 3);
  CHECK(columns("мир∑") == 4);
  CHECK(columns("猫") == 2);
  CHECK(columns("座った") == 6);
  CHECK(columns("😀!") == 3);
}

TEST_CASE("columns: joiners, variation selectors and accents take no columns") {
  CHECK(columns("cafe\u0301") == 4);
  CHECK(columns("x\u0323\u0302") == 1);
  CHECK(columns("❤\uFE0F") == 1);
  CHECK(columns("👨\u200D👩\u200D👧") == 6);
  CHECK(columns("猫\u0301") == 2);  // an accent over a box is left out
}

TEST_CASE("columns: a text of only combining marks is drawn as a box, never as nothing") {
  for (const char* text : {"\u0301", "\uFE0F", "\u200D", "\u0301\u0302"}) {
    CAPTURE(text);
    CHECK(columns(text) == 2);
    const GlyphRun run = FontSet::embedded().run(text);
    REQUIRE(run.glyphs.size() == 1);
    CHECK(run.glyphs[0].kind == Glyph::Kind::kBox);
  }
}

TEST_CASE("shorten: cuts between clusters and marks the cut") {
  CHECK(shorten("cat", 3) == "cat");
  CHECK(shorten("attention", 5) == "atte…");
  CHECK(shorten("猫猫猫", 6) == "猫猫猫");
  CHECK(shorten("猫猫猫", 5) == "猫猫…");
  CHECK(shorten("猫猫猫", 4) == "猫…");
  CHECK(shorten("猫猫", 2) == "…");
  CHECK(shorten("👨\u200D👩\u200D👧x", 6) == "…");  // the family emoji stays together
}

TEST_CASE("wrap: breaks at spaces, and inside words only when they are wider than a line") {
  CHECK(wrap("", 10, 3).empty());
  CHECK(wrap("one two three", 20, 3) == Strings{"one two three"});
  CHECK(wrap("one two three", 7, 3) == Strings{"one two", "three"});
  CHECK(wrap("one two three", 8, 3) == Strings{"one two", "three"});
  CHECK(wrap("attention is", 5, 9) == Strings{"atten", "tion", "is"});
  CHECK(wrap("猫猫猫", 2, 9) == Strings{"猫", "猫", "猫"});
  CHECK(wrap("a\n\nb", 5, 9) == Strings{"a", "", "b"});
}

TEST_CASE("wrap: the last line allowed ends in an ellipsis when more would follow") {
  CHECK(wrap("one two three four", 7, 2) == Strings{"one two", "three …"});
  CHECK(wrap("aaaaaaaaaaaa", 4, 2) == Strings{"aaaa", "aaa…"});
  CHECK(wrap("one\ntwo\nthree", 7, 2) == Strings{"one", "two…"});
  CHECK(wrap("one  ", 7, 1) == Strings{"one"});
}

TEST_CASE("wrap: blanks and line feeds at the end make no lines") {
  CHECK(wrap("one \n\n \n", 10, 9) == Strings{"one"});
  CHECK(wrap("one\n\ntwo \n ", 10, 9) == Strings{"one", "", "two"});
  CHECK(wrap("\n\n", 10, 9).empty());
  CHECK(wrap("one\n\n", 10, 1) == Strings{"one"});
}

TEST_CASE("shorten and wrap: only the visible part of a long text is laid out") {
  std::string text;
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    text += "é";
  }
  const test::Stopwatch watch;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(shorten(text.c_str(), 4) == "ééé…");
    CHECK(wrap(text.c_str(), 2, 2) == Strings{"éé", "é…"});
  }
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
