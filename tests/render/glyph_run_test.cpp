#include "attnviz/render/glyph_run.h"

#include <doctest/doctest.h>

#include <vector>

#include "attnviz/render/font.h"

namespace attnviz {
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

}  // namespace attnviz
