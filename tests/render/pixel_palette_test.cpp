#include "attnviz/render/pixel_palette.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnviz {

TEST_CASE("index_pixels: every pixel's index is its colour in the palette") {
  for (const std::size_t n_colors : {1u, 2u, 200u, 256u}) {
    for (const std::size_t width : {1u, 7u, 300u}) {
      CAPTURE(n_colors);
      CAPTURE(width);
      const std::size_t height = 300;
      std::vector<std::uint8_t> rgb;
      for (std::size_t i = 0; i < width * height; ++i) {
        // Runs along rows, and rows that repeat.
        const std::size_t color = (i % width / 3 + i / width / 2) % n_colors;
        rgb.insert(rgb.end(), {static_cast<std::uint8_t>(color), static_cast<std::uint8_t>(7),
                               static_cast<std::uint8_t>(255 - color)});
      }
      const auto pixels = index_pixels(rgb, width, height);
      REQUIRE(pixels);
      CHECK(pixels->palette.size() <= n_colors);
      REQUIRE(pixels->indices.size() == width * height);
      for (std::size_t i = 0; i < width * height; ++i) {
        const Rgb color = pixels->palette.at(pixels->indices[i]);
        REQUIRE(color == Rgb{rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]});
      }
    }
  }
}

TEST_CASE("index_pixels: 257 colours are too many") {
  std::vector<std::uint8_t> rgb;
  for (unsigned i = 0; i < 257; ++i) {
    rgb.insert(rgb.end(), {static_cast<std::uint8_t>(i & 0xFF), static_cast<std::uint8_t>(i >> 8),
                           static_cast<std::uint8_t>(0)});
  }
  CHECK_FALSE(index_pixels(rgb, 257, 1));
  rgb.resize(3 * 256);
  CHECK(index_pixels(rgb, 256, 1)->palette.size() == 256);
}

}  // namespace attnviz
