// The box of a text: a line of the embedded font's columns, level or turned.
#pragma once

#include <array>
#include <cstddef>

#include "attnviz/picture/scene/pixel_geometry.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// A font size is given as the width of a column in whole pixels (5 to 9 at 96 dpi), so that level
/// text sits on whole pixels. A line is about twice as high.
int line_height(int column_width) noexcept;

/// From the top of a line to its baseline.
int baseline(int column_width) noexcept;

/// The pixel `along` to the right and `down` from the origin, as the reader of the text sees it.
PixelPoint turned(double along, double down, TextAngle angle) noexcept;

/// The corners of a text's box (columns x line height), turned around its top left corner `origin`:
/// top left, top right, bottom right, bottom left, as the reader of the text would call them.
std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept;

}  // namespace attnviz
