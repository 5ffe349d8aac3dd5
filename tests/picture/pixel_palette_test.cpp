#include "attnviz/picture/raster/pixel_palette.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace attnviz {
namespace {

// Far apart and close together.
Rgb color(unsigned i) {
  return {static_cast<std::uint8_t>(i * 37), static_cast<std::uint8_t>(i),
          static_cast<std::uint8_t>(255 - i / 3)};
}

}  // namespace

TEST_CASE("PixelPalette: colours are numbered in the order in which they come, each once") {
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
