// Scenes as pixels.
#pragma once

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

}  // namespace attnviz
