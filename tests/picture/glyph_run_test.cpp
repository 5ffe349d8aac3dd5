#include "attnviz/picture/fonts/glyphs.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace attnviz {
namespace {

std::vector<Glyph> embedded_glyphs(std::string_view text) {
  return glyph_run(text, nullptr).glyphs;
}

std::u32string ids(std::string_view text) {
  std::u32string found;
  for (const Glyph& glyph : embedded_glyphs(text)) {
    found.push_back(glyph.id);
  }
  return found;
}

}  // namespace

TEST_CASE("glyph_run: a letter and its accent become one glyph if Unicode has one") {
  CHECK(ids("e\u0301") == U"é");
}

TEST_CASE("glyph_run: an accent without a composed form is drawn over its letter") {
  const std::vector<Glyph> glyphs = embedded_glyphs("ax\u0302b");
  REQUIRE(glyphs.size() == 4);
  CHECK(glyphs[2].id == 0x302);
  CHECK(glyphs[2].x == glyphs[1].x);
  CHECK(glyphs[3].x == 2.0);
}

TEST_CASE("glyph_run: the font has the visible space") {
  CHECK(ids("␠the") == U"␣the");
  for (const char32_t sign : U"␣⇥⏎…∅") {
    CHECK((sign == 0 || embedded_has(sign)));
  }
}

TEST_CASE("glyph_run: a right-to-left word begins at the right") {
  const std::vector<Glyph> word = embedded_glyphs("אב");  // alef, bet: two boxes
  REQUIRE(word.size() == 2);
  CHECK(word[0].id == 0x5D1);
  CHECK(word[0].kind == Glyph::Kind::kBox);
  CHECK(word[0].x == 0.0);
  CHECK(word[1].id == 0x5D0);
  CHECK(word[1].x == 2.0);
}

// The forms of U+0628 (beh): U+FE8F isolated, FE90 final, FE91 initial, FE92 medial.
TEST_CASE("glyph_run: Arabic letters are joined and read from the right") {
  CHECK(ids("ب") == U"\uFE8F");
  CHECK(ids("ببب") == U"\uFE90\uFE92\uFE91");
  CHECK(glyph_run("ببب", nullptr).columns == 3);
}

TEST_CASE("glyph_run: lam and alef become one letter of one column") {
  CHECK(ids("لا") == U"\uFEFB");
  CHECK(glyph_run("لا", nullptr).columns == 1);
}

TEST_CASE("glyph_run: words of both directions are in reading order") {
  // In a text that begins left to right; digits inside right-to-left words keep their order.
  CHECK(ids("a ب12 c") == U"a 12\uFE8F c");
  // In one that begins right to left; the bracket is mirrored.
  CHECK(ids("(ب) a") == U"a (\uFE8F)");
}

}  // namespace attnviz
