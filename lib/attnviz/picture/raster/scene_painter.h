// Scenes as pixels, the coverage of strokes, and anti-aliased text, level or turned.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/raster/canvas.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Paints the cells at their positions.
void paint_cells(const CellImage& image, Canvas& canvas);

/// Paints every item over those before it, texts in these fonts. Throws as Canvas.
Canvas paint(Scene scene, const FontSet& fonts);

/// The same as a PNG file that states its resolution and `texts`: pairs of a keyword and its text
/// (see PngFacts). Throws as encode_png.
std::string scene_png(Scene scene, const FontSet& fonts,
                      std::vector<std::pair<std::string, std::string>> texts);

struct StrokeMask {
  PixelRect rect;                    // inside the picture; may be empty
  std::vector<std::uint8_t> shares;  // [rect.height, rect.width]: opacity times coverage, of 255
};

/// Returns the strokes' mask in a picture of this size. The coverage of a pixel depends on how far
/// its centre lies inside the edge of the nearest stroke: half on the edge itself.
StrokeMask stroke_mask(const Strokes& strokes, int width, int height);

/// Draws texts, and caches them and their glyphs, since most of a picture's many labels appear more
/// than once. Use one per thread.
class TextRasterizer {
 public:
  /// The fonts must outlive it.
  explicit TextRasterizer(const FontSet& fonts = FontSet::embedded()) : fonts_(fonts) {}

  /// Draws `text` (valid UTF-8) with the top left corner of its box at the origin. Ink outside the
  /// bounding box of text_corners is cut off. Valid as long as this object.
  const InkMap& rasterize(std::string_view text, int column_width, TextAngle angle);

 private:
  // Glyph kind, number and face.
  using OutlineKey = std::tuple<Glyph::Kind, std::uint32_t, const FontFace*>;
  // Glyph, size, column width, angle, and the origin's fraction of a pixel in quarters: everything
  // that a glyph's pixels depend on.
  using InkKey = std::tuple<OutlineKey, double, int, TextAngle, int, int>;

  InkMap drawn(std::string_view text, int column_width, TextAngle angle);
  const Outline& outline(const OutlineKey& key);
  const InkMap& glyph_ink(const InkKey& key);

  const FontSet& fonts_;
  std::map<std::tuple<std::string, int, TextAngle>, InkMap> texts_;
  std::map<OutlineKey, Outline> outlines_;
  std::map<InkKey, InkMap> glyphs_;
};

}  // namespace attnviz
