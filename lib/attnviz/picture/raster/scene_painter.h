// Scenes as pixels. What strokes cover of a picture's pixels.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/picture/fonts/font_set.h"
#include "attnviz/picture/raster/canvas.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// The cells at their places.
void paint_cells(const CellImage& image, Canvas& canvas);

/// Every item over those before it, texts in these fonts. Throws as Canvas.
Canvas paint(Scene scene, const FontSet& fonts);

/// The same as the bytes of a PNG file that tells its resolution and `texts`: keywords, and what
/// stands under each (see PngFacts). Throws as encode_png.
std::string scene_png(Scene scene, const FontSet& fonts,
                      std::vector<std::pair<std::string, std::string>> texts);

struct StrokeMask {
  PixelRect rect;                    // inside of the picture; may be empty
  std::vector<std::uint8_t> shares;  // [rect.height, rect.width]: opacity times coverage, of 255
};

/// The strokes' mask in a picture of this size. A pixel is covered by how far its centre lies
/// inside of the nearest stroke's edge: half on the edge itself.
StrokeMask stroke_mask(const Strokes& strokes, int width, int height);

}  // namespace attnviz
