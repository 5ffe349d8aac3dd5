// An 8-bit sRGB picture in memory: rectangles and text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/core/large_memory.h"
#include "attnviz/render/colormap.h"
#include "attnviz/render/font.h"
#include "attnviz/render/pixel_geometry.h"

namespace attnviz {

/// Of one colour at first. Everything drawn is cut off at the edges.
class Canvas {
 public:
  /// Throws Error{kUsage} when a side is not positive or the bytes overflow.
  Canvas(int width, int height, Rgb background = {255, 255, 255});

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  /// Shape [height, width, 3].
  std::span<const std::uint8_t> pixels() const noexcept { return pixels_; }

  void fill(const PixelRect& rect, Rgb color) noexcept;

  /// Draws lines from the lower left to the upper right, `thickness` wide to the right and
  /// `spacing` apart, which go on in every other rectangle hatched alike.
  void hatch(const PixelRect& rect, Rgb color, int spacing, int thickness) noexcept;

  /// Copies the topmost row of `rect` over its other rows.
  void repeat_top_row(const PixelRect& rect) noexcept;

  /// Puts `color` where the ink is, mixed with what lies below by its amount in fifteenths, and its
  /// image over it, with the origin of the ink at (x, y). Mixed in sRGB, not in linear light, where
  /// small dark text turns too thin.
  void draw(const InkMap& ink, int x, int y, Rgb color) noexcept;

 private:
  PixelRect clipped(const PixelRect& rect) const noexcept;
  std::uint8_t* pixel(int x, int y) noexcept;

  int width_;
  int height_;
  std::vector<std::uint8_t, ZeroedAllocator<std::uint8_t>> pixels_;
};

}  // namespace attnviz
