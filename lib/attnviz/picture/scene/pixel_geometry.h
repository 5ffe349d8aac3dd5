// Points and rectangles in pixels; x to the right, y down, the origin at the top left.
#pragma once

namespace attnviz {

struct PixelPoint {
  double x = 0.0;
  double y = 0.0;
};

/// The pixels [x, x + width) by [y, y + height).
struct PixelRect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  int right() const noexcept { return x + width; }
  int bottom() const noexcept { return y + height; }
  bool empty() const noexcept { return width <= 0 || height <= 0; }
};

}  // namespace attnviz
