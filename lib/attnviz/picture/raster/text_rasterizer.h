// Anti-aliased text, level or turned.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "attnviz/picture/fonts/font_set.h"
#include "attnviz/picture/fonts/glyph_outline.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Draws texts and remembers them and their glyphs, so that a picture's many labels, most of which
/// it shows more than once, cost little. One a thread.
class TextRasterizer {
 public:
  /// The fonts must outlive it.
  explicit TextRasterizer(const FontSet& fonts = FontSet::embedded()) : fonts_(fonts) {}

  /// `text` (valid UTF-8) with the top left corner of its box at the origin. Ink outside the
  /// bounding box of text_corners is cut off. Lasts as long as this object.
  const InkMap& rasterize(std::string_view text, int column_width, TextAngle angle);

 private:
  // Kind, number and face.
  using OutlineKey = std::tuple<Glyph::Kind, std::uint32_t, const FontFace*>;
  // Glyph, size, column width, angle, and the origin's fraction of a pixel in quarters: everything
  // a glyph's pixels depend on.
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
