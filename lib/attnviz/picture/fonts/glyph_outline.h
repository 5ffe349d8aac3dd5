// Outlines of glyphs, those of the embedded font among them, and the ink that fills an outline.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Closed polygons, y upwards, in columns of the embedded font from the glyph's origin. Filled
/// where they wind around a point more often one way than the other.
using Outline = std::vector<std::vector<PixelPoint>>;

/// The curve from the last point of `contour` over one or two control points to the last of
/// `controls`, as short lines.
void add_curve(std::vector<PixelPoint>& contour, std::initializer_list<PixelPoint> controls);

/// The embedded font's measures, in columns (the width of each of its glyphs).
struct EmbeddedMetrics {
  double em = 0.0;
  double ascent = 0.0;   // of a line, above the baseline
  double descent = 0.0;  // below it, positive
  double digit_height = 0.0;
};
const EmbeddedMetrics& embedded_metrics() noexcept;

/// Whether the embedded font can draw the character; false too for what is no character.
bool embedded_has(char32_t code_point) noexcept;

/// Precondition: embedded_has(code_point).
Outline embedded_outline(char32_t code_point);

/// A box of two columns with the code point in hexadecimal, in two rows of two or three digits.
Outline code_point_box(char32_t code_point);

/// How much ink falls on each pixel: 0 none, 255 full. Over the ink, in colours of its own, what
/// colour fonts draw.
struct InkMap {
  int left = 0;  // of the first pixel, from the text's origin
  int top = 0;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> ink;    // [height, width]
  std::vector<std::uint8_t> image;  // [height, width, 4] RGB times alpha, alpha; empty: none
};

/// The ink of an outline in pixels, y upwards, at (x, y) pixels right of and below the origin.
InkMap fill_outline(const Outline& outline, double x, double y);

}  // namespace attnviz
