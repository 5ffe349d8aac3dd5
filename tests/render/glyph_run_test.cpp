#include "attnviz/render/glyph_run.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attnviz/render/font.h"

namespace attnviz {
namespace {

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("drawn_columns: letters take one column, characters the font lacks a box of two") {
  CHECK(drawn_columns("") == 0);
  CHECK(drawn_columns("cat") == 3);
  CHECK(drawn_columns("мир∑") == 4);
  CHECK(drawn_columns("猫") == 2);
  CHECK(drawn_columns("座った") == 6);
  CHECK(drawn_columns("😀!") == 3);
}

TEST_CASE("drawn_columns: joiners, variation selectors and accents take no room") {
  CHECK(drawn_columns("cafe\u0301") == 4);
  CHECK(drawn_columns("x\u0323\u0302") == 1);
  CHECK(drawn_columns("❤\uFE0F") == 1);
  CHECK(drawn_columns("👨\u200D👩\u200D👧") == 6);
  CHECK(drawn_columns("猫\u0301") == 2);  // an accent over a box is left out
}

TEST_CASE("drawn_columns: a text of nothing but marks is drawn as a box, never as nothing") {
  for (const char* text : {"\u0301", "\uFE0F", "\u200D", "\u0301\u0302"}) {
    CAPTURE(text);
    CHECK(drawn_columns(text) == 2);
    const std::vector<Glyph> glyphs = glyph_run(text);
    REQUIRE(glyphs.size() == 1);
    CHECK_FALSE(glyphs[0].in_font);
  }
}

TEST_CASE("glyph_run: a letter and its accent become one glyph where Unicode has one") {
  const std::vector<Glyph> glyphs = glyph_run("e\u0301");
  REQUIRE(glyphs.size() == 1);
  CHECK(glyphs[0].code_point == U'é');
}

TEST_CASE("glyph_run: an accent without a composed form is drawn over its letter") {
  const std::vector<Glyph> glyphs = glyph_run("ax\u0302b");
  REQUIRE(glyphs.size() == 4);
  CHECK(glyphs[2].code_point == 0x302);
  CHECK(glyphs[2].column == glyphs[1].column);
  CHECK(glyphs[3].column == 2);
}

TEST_CASE("glyph_run: the visible space is a sign that the font has") {
  const std::vector<Glyph> glyphs = glyph_run("␠the");
  REQUIRE(glyphs.size() == 4);
  CHECK(glyphs[0].in_font);
  CHECK(font_has(U'⇥'));
  CHECK(font_has(U'⏎'));
  CHECK(font_has(U'…'));
  CHECK(font_has(U'∅'));
}

TEST_CASE("glyph_run: a right-to-left word begins at the right, a mixed text stays as it is") {
  const std::vector<Glyph> word = glyph_run("אב");  // alef, bet: two boxes
  REQUIRE(word.size() == 2);
  CHECK(word[0].code_point == 0x5D0);
  CHECK(word[0].column == word[1].columns);
  CHECK(word[1].column == 0);
  CHECK(glyph_run("aא")[0].column == 0);
}

TEST_CASE("shorten: cuts between clusters and says so") {
  CHECK(shorten("cat", 3) == "cat");
  CHECK(shorten("attention", 5) == "atte…");
  CHECK(shorten("猫猫猫", 6) == "猫猫猫");
  CHECK(shorten("猫猫猫", 5) == "猫猫…");
  CHECK(shorten("猫猫猫", 4) == "猫…");
  CHECK(shorten("猫猫", 2) == "…");
  CHECK(shorten("👨\u200D👩\u200D👧x", 6) == "…");  // the family stays together
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

}  // namespace attnviz
