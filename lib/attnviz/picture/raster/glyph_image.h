// Colour pictures of glyphs, scaled and turned into a text's pixels.
#pragma once

#include <array>

#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/fonts/glyph_outline.h"
#include "attnviz/picture/scene/pixel_geometry.h"

namespace attnviz {

/// The picture with its top left, top right, bottom right and bottom left corner at these pixels
/// (a rectangle, upright or turned); each pixel the mean of what lies under it. Its ink is empty.
InkMap draw_image(const GlyphImage& image, const std::array<PixelPoint, 4>& corners);

}  // namespace attnviz
