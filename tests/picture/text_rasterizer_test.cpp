#include "attnviz/picture/raster/scene_painter.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <string>

#include "attnviz/picture/fonts/glyphs.h"

namespace attnviz {
namespace {

constexpr TextAngle kAngles[] = {TextAngle::kLevel, TextAngle::kRising, TextAngle::kUp};

long ink(const InkMap& map) {
  return std::accumulate(map.ink.begin(), map.ink.end(), 0L);
}

// The ink at a pixel counted from the text's origin; 0 outside.
int ink_at(const InkMap& map, int x, int y) {
  const int column = x - map.left;
  const int row = y - map.top;
  if (column < 0 || row < 0 || column >= map.width || row >= map.height) {
    return 0;
  }
  return map.ink.data()[static_cast<std::ptrdiff_t>(row) * map.width + column];
}

}  // namespace

TEST_CASE("rasterize: horizontal text fills its box and stays on whole pixels") {
  TextRasterizer rasterizer;
  const InkMap map = rasterizer.rasterize("ll", 8, TextAngle::kLevel);
  CHECK(map.left == 0);
  CHECK(map.top == 0);
  CHECK(map.width == 16);
  CHECK(map.height == line_height(8));
  CHECK(ink(map) > 0);
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < 8; ++x) {
      CHECK(ink_at(map, x, y) == ink_at(map, x + 8, y));
    }
  }
}

TEST_CASE("rasterize: upward text is horizontal text rotated by a right angle") {
  TextRasterizer rasterizer;
  const InkMap level = rasterizer.rasterize("Rg7", 9, TextAngle::kLevel);
  const InkMap up = rasterizer.rasterize("Rg7", 9, TextAngle::kUp);
  REQUIRE(level.width == up.height);
  REQUIRE(level.height == up.width);
  int largest_difference = 0;
  for (int y = 0; y < level.height; ++y) {
    for (int x = 0; x < level.width; ++x) {
      largest_difference =
          std::max(largest_difference, std::abs(ink_at(level, x, y) - ink_at(up, y, -1 - x)));
    }
  }
  CHECK(largest_difference <= 4);
}

TEST_CASE("rasterize: rotating text keeps its amount of ink") {
  TextRasterizer rasterizer;
  const auto level = static_cast<double>(ink(rasterizer.rasterize("attn", 9, TextAngle::kLevel)));
  const auto rising = static_cast<double>(ink(rasterizer.rasterize("attn", 9, TextAngle::kRising)));
  CHECK(rising == doctest::Approx(level).epsilon(0.03));
}

TEST_CASE("rasterize: no ink outside the bounding box of the corners, for any text") {
  TextRasterizer rasterizer;
  for (const TextAngle angle : kAngles) {
    for (const char* text : {"Å", "gjpqy", "猫😀", "\u0301", "ﷺ", "x\u0302\u0323", "∰W@"}) {
      CAPTURE(text);
      const InkMap map = rasterizer.rasterize(text, 7, angle);
      CHECK(ink(map) > 0);
      const auto corners = text_corners({0, 0}, FontSet::embedded().columns(text), 7, angle);
      const auto [left, right] =
          std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
      const auto [top, bottom] =
          std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
      CHECK(map.left >= std::floor(left));
      CHECK(map.top >= std::floor(top));
      CHECK(map.left + map.width <= std::ceil(right));
      CHECK(map.top + map.height <= std::ceil(bottom));
    }
  }
}

TEST_CASE("rasterize: characters missing in the font look different from each other") {
  TextRasterizer rasterizer;
  const InkMap cat = rasterizer.rasterize("猫", 9, TextAngle::kLevel);
  const InkMap dog = rasterizer.rasterize("犬", 9, TextAngle::kLevel);
  CHECK(cat.width == 18);
  CHECK(cat.ink != dog.ink);
}

TEST_CASE("rasterize: the empty text has no ink") {
  TextRasterizer rasterizer;
  CHECK(ink(rasterizer.rasterize("", 9, TextAngle::kLevel)) == 0);
  CHECK(ink(rasterizer.rasterize(" ", 9, TextAngle::kLevel)) == 0);
}

}  // namespace attnviz
