#include "attnviz/picture/fonts/text_box.h"

#include <cmath>
#include <numbers>

#include "attnviz/picture/fonts/glyph_outline.h"

namespace attnviz {

int baseline(int column_width) noexcept {
  return static_cast<int>(std::lround(embedded_metrics().ascent * column_width));
}

PixelPoint turned(double along, double down, TextAngle angle) noexcept {
  constexpr double kSlope = 1.0 / std::numbers::sqrt2;
  const double cosine = angle == TextAngle::kLevel ? 1.0 : angle == TextAngle::kUp ? 0.0 : kSlope;
  const double sine = angle == TextAngle::kLevel ? 0.0 : angle == TextAngle::kUp ? 1.0 : kSlope;
  return {along * cosine + down * sine, -along * sine + down * cosine};
}

int line_height(int column_width) noexcept {
  const double descent = embedded_metrics().descent * column_width;
  return baseline(column_width) + static_cast<int>(std::ceil(descent));
}

std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept {
  const double width = static_cast<double>(columns) * column_width;
  const double height = line_height(column_width);
  std::array<PixelPoint, 4> corners = {turned(0, 0, angle), turned(width, 0, angle),
                                       turned(width, height, angle), turned(0, height, angle)};
  for (PixelPoint& corner : corners) {
    corner.x += origin.x;
    corner.y += origin.y;
  }
  return corners;
}

}  // namespace attnviz
