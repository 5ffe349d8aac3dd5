#include "attnviz/picture/raster/glyph_image.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace attnviz {

namespace {

// A pixel is the mean of a square of samples. A letter of 20 pixels shrinks its picture 7 times.
constexpr int kSamples = 8;

// A picture drawn larger than this (in pixels) is a broken font's.
constexpr double kLargestImage = 1024.0;

}  // namespace

InkMap draw_image(const GlyphImage& image, const std::array<PixelPoint, 4>& corners) {
  const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
  const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
  const PixelPoint across = {corners[1].x - corners[0].x, corners[1].y - corners[0].y};
  const PixelPoint down = {corners[3].x - corners[0].x, corners[3].y - corners[0].y};
  const double area = across.x * down.y - across.y * down.x;
  if (!(right - left < kLargestImage && bottom - top < kLargestImage && area > 0.0)) {
    return {};
  }
  InkMap map;
  map.left = static_cast<int>(std::floor(left));
  map.top = static_cast<int>(std::floor(top));
  map.width = static_cast<int>(std::ceil(right)) - map.left;
  map.height = static_cast<int>(std::ceil(bottom)) - map.top;
  map.image.reserve(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height) * 4);
  for (int row = 0; row < map.height; ++row) {
    for (int column = 0; column < map.width; ++column) {
      std::array<int, 4> sum = {};  // the colours times their alpha, and the alpha
      for (int i = 0; i < kSamples * kSamples; ++i) {
        const int sample_column = i % kSamples;
        const int sample_row = i / kSamples;
        const double x = map.left + column + (sample_column + 0.5) / kSamples - corners[0].x;
        const double y = map.top + row + (sample_row + 0.5) / kSamples - corners[0].y;
        const double u = (x * down.y - y * down.x) / area;  // 0 to 1 inside the picture
        const double v = (across.x * y - across.y * x) / area;
        if (u < 0.0 || u >= 1.0 || v < 0.0 || v >= 1.0) {
          continue;
        }
        const auto source_x = static_cast<std::size_t>(u * image.width);
        const auto source_y = static_cast<std::size_t>(v * image.height);
        const std::uint8_t* pixel =
            image.rgba.data() + 4 * (source_y * static_cast<std::size_t>(image.width) + source_x);
        for (std::size_t channel = 0; channel < 3; ++channel) {
          sum[channel] += pixel[channel] * pixel[3];
        }
        sum[3] += pixel[3];
      }
      for (std::size_t channel = 0; channel < 3; ++channel) {
        map.image.push_back(static_cast<std::uint8_t>(sum[channel] / (255 * kSamples * kSamples)));
      }
      map.image.push_back(static_cast<std::uint8_t>(sum[3] / (kSamples * kSamples)));
    }
  }
  return map;
}

}  // namespace attnviz
