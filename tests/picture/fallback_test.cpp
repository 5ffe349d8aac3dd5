// Texts in fonts other than the embedded one: DejaVu Sans, which is distributed with the embedded
// font, and Lohit Devanagari.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/font_data.h"
#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/raster/scene_painter.h"
#include "support/naive.h"

namespace attnviz {
namespace {

constexpr const char* kDejaVu = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr const char* kLohit = "/usr/share/fonts/truetype/lohit-devanagari/Lohit-Devanagari.ttf";

bool can_test(const std::string& font) {
  if (!can_draw_other_fonts()) {
    MESSAGE("SKIPPED: other fonts need libharfbuzz.so.0");
    return false;
  }
  if (!std::filesystem::exists(font)) {
    MESSAGE("SKIPPED: needs the font " << font);
    return false;
  }
  return true;
}

FontFile font_file(const char* path) {
  auto file = std::make_shared<const MappedFile>(path);
  return {path, file->bytes(), file, 0};
}

FontFile font_of_bytes(const std::string& bytes) {
  auto owner = std::make_shared<const std::string>(bytes);
  return {"test", *owner, owner, 0};
}

long total(const InkMap& map) {
  return std::accumulate(map.ink.begin(), map.ink.end(), 0L) +
         std::accumulate(map.image.begin(), map.image.end(), 0L);
}

bool has_box(const GlyphRun& run) {
  return std::any_of(run.glyphs.begin(), run.glyphs.end(),
                     [](const Glyph& glyph) { return glyph.kind == Glyph::Kind::kBox; });
}

std::vector<std::uint32_t> ids(const GlyphRun& run) {
  std::vector<std::uint32_t> found;
  found.reserve(run.glyphs.size());
  for (const Glyph& glyph : run.glyphs) {
    found.push_back(glyph.id);
  }
  return found;
}

}  // namespace

TEST_CASE("FontSet: a given font draws only characters that the embedded one lacks") {
  if (!can_test(kDejaVu)) {
    return;
  }
  const FontSet fonts({font_file(kDejaVu)});
  CHECK_FALSE(has_box(fonts.run("שלום")));
  CHECK_FALSE(has_box(fonts.run("😀")));
  CHECK(fonts.columns("😀") == 2);
  CHECK(has_box(fonts.run("猫")));
  for (const char* text : {"cat", "naïve", "мир∑", "ببب"}) {
    CAPTURE(text);
    CHECK(ids(fonts.run(text)) == ids(FontSet::embedded().run(text)));
  }
}

TEST_CASE("FontSet: Hebrew is laid out right to left, next to left-to-right words") {
  if (!can_test(kDejaVu)) {
    return;
  }
  const FontSet fonts({font_file(kDejaVu)});
  const std::uint32_t alef = fonts.run("א").glyphs.at(0).id;
  const std::uint32_t bet = fonts.run("ב").glyphs.at(0).id;
  CHECK(ids(fonts.run("אב")) == std::vector<std::uint32_t>{bet, alef});
  CHECK(ids(fonts.run("a אב")) == std::vector<std::uint32_t>{'a', ' ', bet, alef});
  CHECK(ids(fonts.run("אב a")) == std::vector<std::uint32_t>{'a', ' ', bet, alef});
}

TEST_CASE("FontSet: Devanagari forms conjuncts and moves the short i before its consonant") {
  if (!can_test(kLohit)) {
    return;
  }
  const FontSet fonts({font_file(kLohit)});
  const std::uint32_t ka = fonts.run("क").glyphs.at(0).id;
  const std::vector<std::uint32_t> ki = ids(fonts.run("कि"));
  REQUIRE(ki.size() == 2);
  CHECK(ki[1] == ka);
  // क् + ष is one letter, not two with a virama below.
  CHECK(fonts.run("क्ष").glyphs.size() == 1);
  CHECK(fonts.columns("नमस्ते") < FontSet::embedded().columns("नमस्ते"));
}

TEST_CASE("FontSet: a mark on a letter of another font is drawn with it, or left out") {
  if (!can_test(kDejaVu)) {
    return;
  }
  const FontSet fonts({font_file(kDejaVu)});
  CHECK(fonts.columns("א\u05B8") == fonts.columns("א"));
  CHECK(fonts.columns("א\u0915") > 0);
  CHECK_FALSE(has_box(fonts.run("א\u0E49")));
}

TEST_CASE("FontSet: a font for a character is looked up once") {
  std::vector<char32_t> asked;
  const FontSet fonts({}, [&asked](char32_t c) -> std::optional<FontFile> {
    asked.push_back(c);
    return std::nullopt;
  });
  CHECK(fonts.columns("cat") == 3);
  CHECK(asked.empty());
  CHECK(fonts.columns("猫cat猫") == 7);
  CHECK(fonts.columns("猫") == 2);
  CHECK(asked == std::vector<char32_t>{U'猫'});
}

TEST_CASE("FontSet: characters far past the visible text are not looked up") {
  std::size_t n_asked = 0;
  const FontSet fonts({}, [&n_asked](char32_t) -> std::optional<FontFile> {
    ++n_asked;
    return std::nullopt;
  });
  std::string text;
  for (char32_t c = 0x4E00; c < 0x9000; ++c) {
    append_utf8(text, c);
  }
  const std::string first_nine = text.substr(0, 9 * 3);
  CHECK(fonts.shorten(text, 20) == first_nine + "…");
  CHECK(fonts.wrap(text, 18, 1) == std::vector<std::string>{text.substr(0, 8 * 3) + "…"});
  CHECK(n_asked < 200);
}

TEST_CASE("FontSet: a script keeps the font that was found for it") {
  if (!can_test(kDejaVu)) {
    return;
  }
  std::vector<char32_t> asked;
  const FontSet fonts({}, [&asked](char32_t c) {
    asked.push_back(c);
    return std::optional(font_file(kDejaVu));
  });
  CHECK_FALSE(has_box(fonts.run("א")));
  CHECK_FALSE(has_box(fonts.run("בגד")));
  CHECK(asked == std::vector<char32_t>{U'א'});
}

TEST_CASE("FontSet: a font that cannot be opened is not mistaken for the next one at its address") {
  if (!can_test(kDejaVu)) {
    return;
  }
  const FontFile font = font_file(kDejaVu);
  // One address for two files, as if a file was unmapped and another mapped there.
  const auto bytes_at_address = std::make_shared<std::string>(font.bytes.size(), '\0');
  const FontSet fonts({}, [&](char32_t c) {
    const bool broken = c == U'א';
    std::copy(font.bytes.begin(), font.bytes.end(), bytes_at_address->begin());
    if (broken) {
      std::fill(bytes_at_address->begin(), bytes_at_address->end(), '\0');
    }
    return std::optional(
        FontFile{broken ? "broken.ttf" : "whole.ttf", *bytes_at_address, bytes_at_address, 0});
  });
  CHECK(has_box(fonts.run("א")));
  CHECK_FALSE(has_box(fonts.run("ب")));
}

TEST_CASE("rasterize: every hard text has ink and stays inside its box, in every font and angle") {
  std::vector<std::unique_ptr<FontSet>> sets;
  sets.push_back(std::make_unique<FontSet>(std::vector<FontFile>()));
  for (const char* path : {kDejaVu, kLohit}) {
    if (can_test(path)) {
      sets.push_back(std::make_unique<FontSet>(std::vector{font_file(path)}));
    }
  }
  for (const auto& fonts : sets) {
    TextRasterizer rasterizer(*fonts);
    for (const char* text :
         {"猫",      "👨\u200D👩\u200D👧", "👍🏽",   "🇫🇷",     "❤\uFE0F",    "1\uFE0F\u20E3",
          "\u0301",  "\uFE0F",          "\u200D",     "ﷺ",      "שלום",       "שָׁלוֹם",
          "العربيّة", "हिन्दी",           "क्षि",        "\u093F", "\u094D",     "น้ำ",
          "\u0E49",  "한국어",          "\U000E0041", "\uFFFF", "\U0010FFFF", "x\u0302\u0323\u20DD",
          "\u3000"}) {
      for (const TextAngle angle : {TextAngle::kLevel, TextAngle::kRising, TextAngle::kUp}) {
        CAPTURE(text);
        const std::size_t columns = fonts->columns(text);
        CHECK(columns > 0);
        CHECK(columns <= 40);
        CHECK(total(rasterizer.rasterize(text, 7, angle)) > 0);
      }
    }
  }
}

TEST_CASE("rasterize: a broken font file never causes a crash, for any text") {
  if (!can_test(kLohit)) {
    return;
  }
  const MappedFile file(kLohit);
  const std::string whole(file.bytes());
  const auto draw = [](const std::string& bytes) {
    const FontSet fonts({font_of_bytes(bytes)});
    TextRasterizer rasterizer(fonts);
    CHECK(fonts.columns("हिन्दी क्षि") > 0);
    rasterizer.rasterize("हिन्दी क्षि नमस्ते", 7, TextAngle::kRising);
  };
  draw("");
  for (std::size_t size = 1; size < whole.size(); size *= 3) {
    draw(whole.substr(0, size));
  }
  for (std::size_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::string broken = whole;
    // Half of the damage is in the list of tables and at their beginnings.
    for (const float where : test::random_values(40, seed)) {
      const double fraction = (static_cast<double>(where) + 1.0) / 2.0;
      const std::size_t span = seed % 2 == 0 ? broken.size() : 4000;
      broken[static_cast<std::size_t>(fraction * 0.999 * static_cast<double>(span))] ^= '\x5A';
    }
    draw(broken);
  }
}

}  // namespace attnviz
