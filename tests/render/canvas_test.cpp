#include "attnviz/render/canvas.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

constexpr Rgb kWhite{255, 255, 255};
constexpr Rgb kRed{200, 10, 20};

Rgb pixel(const Canvas& canvas, int x, int y) {
  const std::uint8_t* channels =
      canvas.pixels().data() + (static_cast<std::ptrdiff_t>(y) * canvas.width() + x) * 3;
  return {channels[0], channels[1], channels[2]};
}

int count(const Canvas& canvas, Rgb color) {
  int n = 0;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      n += pixel(canvas, x, y) == color ? 1 : 0;
    }
  }
  return n;
}

}  // namespace

TEST_CASE("Canvas: white at first") {
  const Canvas canvas(5, 3);
  CHECK(count(canvas, kWhite) == 15);
  CHECK(canvas.pixels().size() == 45);
}

TEST_CASE("Canvas::fill: paints the rectangle and nothing else, cut off at the edges") {
  Canvas canvas(8, 6);
  canvas.fill({2, 1, 3, 2}, kRed);
  CHECK(count(canvas, kRed) == 6);
  CHECK(pixel(canvas, 2, 1) == kRed);
  CHECK(pixel(canvas, 4, 2) == kRed);
  CHECK(pixel(canvas, 5, 2) == kWhite);

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
  CHECK(pixel(canvas, 1, 3) == kRed);
  CHECK(pixel(canvas, 2, 3) == kWhite);
}

TEST_CASE("Canvas::draw: full ink covers, some ink mixes in fifteenths, no ink leaves the pixel") {
  Canvas canvas(4, 2);
  const InkMap ink = {1, 0, 3, 1, {255, 127, 0}, {}};
  canvas.draw(ink, 0, 1, {0, 0, 0});
  CHECK(pixel(canvas, 0, 1) == kWhite);
  CHECK(pixel(canvas, 1, 1) == Rgb{0, 0, 0});
  // 127 of 255 is nearest to 7 fifteenths of black.
  CHECK(pixel(canvas, 2, 1) == Rgb{136, 136, 136});
  CHECK(pixel(canvas, 3, 1) == kWhite);
  CHECK(count(canvas, kWhite) == 6);
}

TEST_CASE("Canvas::draw: an image lies over the ink in its own colours") {
  Canvas canvas(3, 1);
  // Full red; half blue (colour times alpha, alpha); nothing.
  const InkMap ink = {0, 0, 3, 1, {255, 255, 255}, {255, 0, 0, 255, 0, 0, 128, 128, 0, 0, 0, 0}};
  canvas.draw(ink, 0, 0, {0, 0, 0});
  CHECK(pixel(canvas, 0, 0) == Rgb{255, 0, 0});
  CHECK(pixel(canvas, 1, 0) == Rgb{0, 0, 128});
  CHECK(pixel(canvas, 2, 0) == Rgb{0, 0, 0});
}

TEST_CASE("Canvas::draw: ink beyond the edges is cut off") {
  Canvas canvas(2, 2);
  const InkMap ink = {0, 0, 3, 3, {255, 255, 255, 255, 255, 255, 255, 255, 255}, {}};
  canvas.draw(ink, -2, -2, kRed);
  CHECK(count(canvas, kRed) == 1);
  canvas.draw(ink, 1, 1, kRed);
  CHECK(count(canvas, kRed) == 2);
  canvas.draw(ink, 5, 5, kRed);
  CHECK(count(canvas, kRed) == 2);
}

TEST_CASE("Canvas: sides must be positive") {
  CHECK_THROWS_AS(Canvas(0, 3), Error);
  CHECK_THROWS_AS(Canvas(3, -1), Error);
}

}  // namespace attnviz
