#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "attnviz/core/error.h"
#include "attnviz/picture/raster/canvas.h"
#include "picture/pixel_count.h"

namespace attnviz {

namespace {

constexpr Rgb kWhite{255, 255, 255};
constexpr Rgb kRed{200, 10, 20};

using test::count;

}  // namespace

TEST_CASE("Canvas: white at first") {
  const Canvas canvas(5, 3);
  CHECK(count(canvas, kWhite) == 15);
  CHECK(canvas.has_palette());
  CHECK(canvas.pixels().size() == 15);
}

TEST_CASE("Canvas::fill: paints only the rectangle, clipped at the edges") {
  Canvas canvas(8, 6);
  canvas.fill({2, 1, 3, 2}, kRed);
  CHECK(count(canvas, kRed) == 6);
  CHECK(canvas.at(2, 1) == kRed);
  CHECK(canvas.at(4, 2) == kRed);
  CHECK(canvas.at(5, 2) == kWhite);

  Canvas clipped(8, 6);
  clipped.fill({-3, -3, 5, 4}, kRed);
  CHECK(count(clipped, kRed) == 2);
  clipped.fill({7, 5, 100, 100}, kRed);
  CHECK(count(clipped, kRed) == 3);
  clipped.fill({20, 20, 3, 3}, kRed);
  clipped.fill({3, 3, 0, 2}, kRed);
  clipped.fill({3, 3, -2, 2}, kRed);
  CHECK(count(clipped, kRed) == 3);
}

TEST_CASE("Canvas::repeat_top_row: the rows below become the top row") {
  Canvas canvas(4, 4);
  canvas.fill({1, 1, 1, 1}, kRed);
  canvas.repeat_top_row({1, 1, 2, 3});
  CHECK(count(canvas, kRed) == 3);
  CHECK(canvas.at(1, 3) == kRed);
  CHECK(canvas.at(2, 3) == kWhite);
}

TEST_CASE(
    "Canvas::draw: full ink covers, partial ink mixes in fifteenths, no ink keeps the pixel") {
  Canvas canvas(4, 2);
  const InkMap ink = {1, 0, 3, 1, {255, 127, 0}, {}};
  canvas.draw(ink, 0, 1, {0, 0, 0});
  CHECK(canvas.at(0, 1) == kWhite);
  CHECK(canvas.at(1, 1) == Rgb{0, 0, 0});
  // 127 of 255 is nearest to 7 fifteenths of black.
  CHECK(canvas.at(2, 1) == Rgb{136, 136, 136});
  CHECK(canvas.at(3, 1) == kWhite);
  CHECK(count(canvas, kWhite) == 6);
}

TEST_CASE("Canvas::draw: an image lies over the ink in its own colours") {
  Canvas canvas(3, 1);
  // Full red; half blue (colour times alpha, alpha); nothing.
  const InkMap ink = {0, 0, 3, 1, {255, 255, 255}, {255, 0, 0, 255, 0, 0, 128, 128, 0, 0, 0, 0}};
  canvas.draw(ink, 0, 0, {0, 0, 0});
  CHECK(canvas.at(0, 0) == Rgb{255, 0, 0});
  CHECK(canvas.at(1, 0) == Rgb{0, 0, 128});
  CHECK(canvas.at(2, 0) == Rgb{0, 0, 0});
}

TEST_CASE("Canvas::draw: ink beyond the edges is clipped") {
  Canvas canvas(2, 2);
  const InkMap ink = {0, 0, 3, 3, {255, 255, 255, 255, 255, 255, 255, 255, 255}, {}};
  canvas.draw(ink, -2, -2, kRed);
  CHECK(count(canvas, kRed) == 1);
  canvas.draw(ink, 1, 1, kRed);
  CHECK(count(canvas, kRed) == 2);
  canvas.draw(ink, 5, 5, kRed);
  CHECK(count(canvas, kRed) == 2);
}

TEST_CASE("Canvas: beyond 256 colours pixels are stored as three channels and look the same") {
  const auto color = [](int i) {
    return Rgb{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i / 2),
               static_cast<std::uint8_t>(i / 256)};
  };
  Canvas canvas(20, 20, {1, 2, 3});
  for (int i = 0; i < 399; ++i) {
    CHECK(canvas.has_palette() == (i < 256));
    canvas.fill({i % 20, i / 20, 1, 1}, color(i));
  }
  CHECK(canvas.pixels().size() == 3 * 20 * 20);
  for (int i = 0; i < 399; ++i) {
    REQUIRE(canvas.at(i % 20, i / 20) == color(i));
  }
  CHECK(canvas.at(19, 19) == Rgb{1, 2, 3});
  canvas.repeat_top_row({0, 5, 20, 3});
  CHECK(canvas.at(7, 7) == color(107));
  // Ink whose mixture is one colour too many.
  Canvas inked(16, 16);
  for (int i = 0; i < 255; ++i) {
    inked.fill({i % 16, i / 16, 1, 1}, color(i));
  }
  CHECK(inked.has_palette());
  inked.draw({0, 0, 2, 1, {255, 127}, {}}, 14, 15, {77, 88, 99});
  CHECK_FALSE(inked.has_palette());
  CHECK(inked.at(14, 15) == Rgb{77, 88, 99});
  CHECK(inked.at(13, 15) == color(253));
  // The same for an image, and for mixtures.
  for (const bool is_image : {false, true}) {
    CAPTURE(is_image);
    Canvas full(1024, 1024);
    for (int i = 0; i < 255; ++i) {
      full.fill({i, 0, 1, 1}, color(i));
    }
    CHECK(full.has_palette());
    if (is_image) {
      full.draw({0, 0, 2, 1, {255, 255}, {77, 88, 99, 255, 66, 55, 44, 255}}, 500, 900, kRed);
    } else {
      full.blend({500, 900, 1, 1}, std::array<std::uint8_t, 1>{255}, {77, 88, 99});
    }
    CHECK_FALSE(full.has_palette());
    CHECK(full.at(500, 900) == Rgb{77, 88, 99});
    CHECK(full.at(501, 900) == (is_image ? Rgb{66, 55, 44} : kWhite));
    CHECK(full.at(254, 0) == color(254));
  }
}

TEST_CASE("Canvas::draw: every pixel is mixed correctly, also if the palette ends within a text") {
  // Every amount of ink, with gaps of several lengths, over two alternating colours.
  InkMap ink{0, 0, 97, 5, {}, {}};
  for (int i = 0; i < 97 * 5; ++i) {
    ink.ink.push_back(i % 23 < i % 13 ? std::uint8_t{0} : static_cast<std::uint8_t>(i * i * 31));
  }
  const Rgb color{20, 90, 250};
  // The three channels of black equal its index if it is the first colour.
  for (const Rgb first : {Rgb{255, 255, 255}, Rgb{0, 0, 0}}) {
    for (const int n_colors : {2, 230, 240, 245, 250, 254, 256, 300}) {
      CAPTURE(int{first.r});
      CAPTURE(n_colors);
      Canvas canvas(100, 10, first);
      const auto below = [first](int x) { return x / 33 % 2 == 0 ? first : Rgb{9, 60, 30}; };
      for (int i = 0; i < n_colors; ++i) {
        canvas.fill({i % 100, 6 + i / 100, 1, 1}, {static_cast<std::uint8_t>(i), 7, 7});
      }
      for (int x = 0; x < 100; ++x) {
        canvas.fill({x, 0, 1, 6}, below(x));
      }
      canvas.draw(ink, 2, 1, color);
      for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 97; ++x) {
          const unsigned share =
              (ink.ink[97 * static_cast<std::size_t>(y) + static_cast<std::size_t>(x)] + 8u) / 17 *
              17;
          const auto mixed = [share](std::uint8_t under, std::uint8_t over) {
            return static_cast<std::uint8_t>((over * share + under * (255 - share) + 127) / 255);
          };
          const Rgb under = below(x + 2);
          REQUIRE(canvas.at(x + 2, y + 1) ==
                  Rgb{mixed(under.r, color.r), mixed(under.g, color.g), mixed(under.b, color.b)});
        }
      }
    }
  }
}

TEST_CASE("Canvas::hatch: lines run from the lower left to the upper right") {
  Canvas canvas(7, 5);
  canvas.hatch({1, 1, 5, 3}, kRed, 3, 1);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      const bool inside = x >= 1 && x < 6 && y >= 1 && y < 4;
      CHECK(canvas.at(x, y) == (inside && (x + y) % 3 == 0 ? kRed : kWhite));
    }
  }
}

TEST_CASE("Canvas: sides must be positive") {
  CHECK_THROWS_AS(Canvas(0, 3), Error);
  CHECK_THROWS_AS(Canvas(3, -1), Error);
}

namespace {

// Colours far apart and close together.
Rgb color(unsigned i) {
  return {static_cast<std::uint8_t>(i * 37), static_cast<std::uint8_t>(i),
          static_cast<std::uint8_t>(255 - i / 3)};
}

}  // namespace

TEST_CASE("PixelPalette: colours are numbered in order of appearance, each once") {
  PixelPalette palette;
  for (int round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < 256; ++i) {
      REQUIRE(palette.number(color(i)) == i);
    }
  }
  REQUIRE(palette.colors().size() == 256);
  CHECK(palette.colors()[200] == color(200));
}

TEST_CASE("PixelPalette: colour 257 gets no number, those before it keep theirs") {
  PixelPalette palette;
  for (unsigned i = 0; i < 256; ++i) {
    palette.number({static_cast<std::uint8_t>(i), 0, 0});
  }
  CHECK_FALSE(palette.number({0, 1, 0}));
  CHECK(palette.number({0, 0, 0}) == std::uint8_t{0});
  CHECK(palette.number({255, 0, 0}) == std::uint8_t{255});
}

}  // namespace attnviz
