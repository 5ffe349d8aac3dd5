#include "attnviz/picture/raster/scene_painter.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "picture/decoded_png.h"
#include "picture/pixel_count.h"

namespace attnviz {
namespace {

constexpr Rgb kPaper{250, 250, 240};
constexpr Rgb kInk{200, 10, 20};
constexpr Rgb kBlue{10, 20, 200};

Scene sheet(int width, int height) {
  Scene scene;
  scene.width = width;
  scene.height = height;
  scene.background = kPaper;
  return scene;
}

Canvas painted(const Scene& scene) {
  return paint(scene, FontSet::embedded());
}

using test::count;

}  // namespace

TEST_CASE("paint: a scene without items is its background") {
  const Canvas canvas = painted(sheet(7, 4));
  CHECK(canvas.width() == 7);
  CHECK(canvas.height() == 4);
  CHECK(count(canvas, kPaper) == 28);
  CHECK_THROWS_AS(painted(sheet(0, 4)), Error);
}

TEST_CASE("paint: every cell has its colour, gaps show what was painted before") {
  // Red twice in a row: cells of one colour must not merge across a gap.
  const auto colors =
      std::make_shared<CellColors>(CellColors{2, 3, {0, 0, 1, 1, 0, 1}, {kInk, kBlue}});
  for (const int gap : {0, 1, 2}) {
    CAPTURE(gap);
    Scene scene = sheet(40, 30);
    CellImage image;
    image.pitch_x = 6;
    image.pitch_y = 5;
    image.gap_x = gap;
    image.gap_y = gap;
    image.rect = {3, 4, 3 * 6 - gap, 2 * 5 - gap};
    image.colors = colors;
    scene.items.emplace_back(image);
    const Canvas canvas = painted(scene);
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 40; ++x) {
        const int col = (x - 3) / 6;
        const int row = (y - 4) / 5;
        const bool inside = x >= 3 && y >= 4 && col < 3 && row < 2 && (x - 3) % 6 < 6 - gap &&
                            (y - 4) % 5 < 5 - gap;
        const Rgb expected =
            inside ? colors->at(static_cast<std::size_t>(row), static_cast<std::size_t>(col))
                   : kPaper;
        REQUIRE(canvas.at(x, y) == expected);
      }
    }
  }
}

TEST_CASE("paint: cells keep their colours if the palette is full midway, and end at the edges") {
  // 200 colours before 100 of cells, each in two rows: colour 257 is in the middle of the first.
  Scene scene = sheet(200, 9);
  for (int i = 0; i < 200; ++i) {
    scene.items.emplace_back(Rectangle{{i, 8, 1, 1}, {static_cast<std::uint8_t>(i), 1, 1}});
  }
  auto colors = std::make_shared<CellColors>(CellColors{2, 100, {}, {}});
  for (std::size_t i = 0; i < 200; ++i) {
    colors->numbers.push_back(static_cast<std::uint8_t>(i % 100));
  }
  for (std::uint8_t i = 0; i < 100; ++i) {
    colors->palette.push_back({i, 2, 2});
  }
  CellImage image;
  image.rect = {-4, 0, 300, 8};
  image.pitch_x = 3;
  image.pitch_y = 4;
  image.colors = colors;
  scene.items.emplace_back(image);
  const Canvas canvas = painted(scene);
  CHECK_FALSE(canvas.has_palette());
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 200; ++x) {
      CAPTURE(x);
      REQUIRE(canvas.at(x, y) == Rgb{static_cast<std::uint8_t>((x + 4) / 3), 2, 2});
    }
  }
  CHECK(canvas.at(199, 8) == Rgb{199, 1, 1});
}

TEST_CASE("paint: later items lie over earlier ones") {
  Scene scene = sheet(10, 10);
  scene.items.emplace_back(Rectangle{{0, 0, 6, 6}, kInk});
  scene.items.emplace_back(Rectangle{{4, 4, 6, 6}, kBlue});
  const Canvas canvas = painted(scene);
  CHECK(count(canvas, kInk) == 32);
  CHECK(count(canvas, kBlue) == 36);
}

TEST_CASE("paint: hatching of one rectangle continues in the next one") {
  Scene whole = sheet(30, 10);
  whole.items.emplace_back(Hatch{{2, 1, 24, 8}, kInk, 6, 2});
  Scene parts = sheet(30, 10);
  parts.items.emplace_back(Hatch{{2, 1, 11, 8}, kInk, 6, 2});
  parts.items.emplace_back(Hatch{{13, 1, 13, 8}, kInk, 6, 2});
  const Canvas one = painted(whole);
  const Canvas two = painted(parts);
  CHECK(count(one, kInk) == 24 * 8 / 3);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 30; ++x) {
      REQUIRE(one.at(x, y) == two.at(x, y));
    }
  }
}

TEST_CASE("paint: a text leaves ink of its colour in its box, and none outside") {
  for (const TextAngle angle : {TextAngle::kLevel, TextAngle::kUp}) {
    Scene scene = sheet(60, 60);
    TextRun text;
    text.text = "WM";
    text.columns = 2;
    text.column_width = 9;
    text.angle = angle;
    text.x = 20;
    text.y = 30;
    text.color = kBlue;
    scene.items.emplace_back(text);
    const Canvas canvas = painted(scene);
    CHECK(count(canvas, kBlue) > 10);
    const auto corners = text_corners({20, 30}, 2, 9, angle);
    for (int y = 0; y < 60; ++y) {
      for (int x = 0; x < 60; ++x) {
        const bool level = angle == TextAngle::kLevel;
        const bool inside = x >= 20 && x < (level ? corners[2].x : corners[3].x) &&
                            y < (level ? corners[2].y : corners[3].y) &&
                            y >= (level ? 30 : corners[1].y);
        REQUIRE((inside || canvas.at(x, y) == kPaper));
      }
    }
  }
}

TEST_CASE("paint: a horizontal line is full in its middle and half a pixel at its round ends") {
  Scene scene = sheet(12, 8);
  scene.items.emplace_back(Strokes{{{{2.0, 3.5}, {8.0, 3.5}, 0.0}}, 1.0, kInk, 1.0});
  const Canvas canvas = painted(scene);
  for (int x = 2; x < 8; ++x) {
    CAPTURE(x);
    CHECK(canvas.at(x, 3) == kInk);
    CHECK(canvas.at(x, 2) == kPaper);
    CHECK(canvas.at(x, 4) == kPaper);
  }
  // 128 of 255 of (200, 10, 20), the rest of (250, 250, 240).
  constexpr Rgb kHalf{225, 130, 130};
  CHECK(canvas.at(1, 3) == kHalf);
  CHECK(canvas.at(8, 3) == kHalf);
  CHECK(count(canvas, kPaper) == 12 * 8 - 8);
}

TEST_CASE("paint: crossing strokes of one item cover once, those of two items twice") {
  const Curve level = {{2.0, 4.5}, {9.0, 4.5}, 0.0};
  const Curve upright = {{5.5, 1.0}, {5.5, 8.0}, 0.0};
  Scene scene = sheet(12, 9);
  scene.items.emplace_back(Strokes{{level, upright}, 1.0, kInk, 0.5});
  const Canvas together = painted(scene);
  constexpr Rgb kHalf{225, 130, 130};
  CHECK(together.at(3, 4) == kHalf);
  CHECK(together.at(5, 4) == kHalf);
  scene.items = {Strokes{{level}, 1.0, kInk, 0.5}, Strokes{{upright}, 1.0, kInk, 0.5}};
  const Canvas apart = painted(scene);
  CHECK(apart.at(3, 4) == kHalf);
  // Half of (200, 10, 20) over the half: (225 + 200) / 2, (130 + 10) / 2, (130 + 20) / 2.
  CHECK(apart.at(5, 4) == Rgb{212, 70, 75});
}

TEST_CASE("paint: a curved line begins and ends horizontally and is straight nowhere else") {
  const Curve curve = {{0.0, 0.0}, {8.0, 4.0}, 2.0};
  CHECK(curve.at(0.5).x == doctest::Approx(4.0));
  CHECK(curve.at(0.5).y == doctest::Approx(2.0));
  // (0, 0), (2, 0), (6, 4) and (8, 4) with weights 27, 27, 9 and 1 of 64.
  CHECK(curve.at(0.25).x == doctest::Approx((27.0 * 2 + 9.0 * 6 + 8.0) / 64.0));
  CHECK(curve.at(0.25).y == doctest::Approx((9.0 * 4 + 4.0) / 64.0));
  Scene scene = sheet(60, 40);
  scene.items.emplace_back(Strokes{{{{10.0, 5.5}, {50.0, 34.5}, 12.0}}, 1.0, kInk, 1.0});
  const Canvas canvas = painted(scene);
  CHECK(canvas.at(10, 5) != kPaper);
  CHECK(canvas.at(13, 5) != kPaper);
  CHECK(canvas.at(13, 8) == kPaper);  // where a straight line would be
  CHECK(canvas.at(46, 34) != kPaper);
  CHECK(canvas.at(46, 31) == kPaper);
  CHECK(canvas.at(30, 20) != kPaper);
}

TEST_CASE("paint: lines are clipped at the edges, and an empty list paints nothing") {
  Scene scene = sheet(6, 6);
  scene.items.emplace_back(Strokes{{{{-20.0, 2.5}, {20.0, 2.5}, 0.0}}, 3.0, kInk, 1.0});
  scene.items.emplace_back(Strokes{{{{-20.0, -20.0}, {-9.0, -9.0}, 4.0}}, 3.0, kInk, 1.0});
  scene.items.emplace_back(Strokes{});
  const Canvas canvas = painted(scene);
  CHECK(count(canvas, kInk) == 18);
  CHECK(count(canvas, kPaper) == 18);
}

TEST_CASE("scene_png: the file contains resolution and texts") {
  Scene scene = sheet(12, 8);
  scene.dpi = 300;
  const std::string bytes = scene_png(scene, FontSet::embedded(), {{"Title", "two\nlines"}});
  CHECK(test::has_sound_chunks(bytes));
  const test::DecodedPng image = test::decode_png(bytes);
  CHECK(image.width == 12);
  CHECK(image.height == 8);
  CHECK(image.at(5, 5) == kPaper);
  const auto chunks = test::chunks_of(bytes);
  CHECK(chunks[1].type == "pHYs");
  CHECK(chunks[2].data == "Title" + std::string(5, '\0') + "two\nlines");
}

}  // namespace attnviz
