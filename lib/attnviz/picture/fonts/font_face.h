// A font file opened with HarfBuzz: shaped text, outlines and colour pictures of its glyphs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "attnviz/picture/fonts/font_file.h"
#include "attnviz/picture/fonts/glyph_outline.h"

namespace attnviz {

/// A glyph of a shaped text; lengths in ems, y upwards.
struct ShapedGlyph {
  std::uint32_t id = 0;
  double x = 0.0;  // of its origin, from the start of the text
  double y = 0.0;
  double advance = 0.0;
};

/// The box around a glyph's ink, in ems from its origin, y upwards.
struct GlyphExtents {
  double left = 0.0;
  double bottom = 0.0;
  double right = 0.0;
  double top = 0.0;

  bool empty() const noexcept { return !(left < right && bottom < top); }
};

/// A glyph's picture in a colour font.
struct GlyphImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  // [height, width, 4]
};

class FontFace {
 public:
  /// Null when the system has no HarfBuzz or the face has no glyphs.
  static std::unique_ptr<FontFace> open(const FontFile& file);
  ~FontFace();

  bool has(char32_t code_point) const;

  /// The glyphs of a text of one script and direction, from left to right.
  std::vector<ShapedGlyph> shape(std::span<const char32_t> text, bool right_to_left) const;

  /// The ink's box as the font says; all zero for none, and for one larger than any letter.
  GlyphExtents extents(std::uint32_t glyph) const;

  /// In ems. Empty for a blank glyph, and for one larger than any letter.
  Outline outline(std::uint32_t glyph) const;

  /// Null when the glyph has no picture, only an outline.
  const GlyphImage* image(std::uint32_t glyph) const;

 private:
  struct Handles;

  FontFace();

  std::unique_ptr<Handles> handles_;
  mutable std::map<std::uint32_t, GlyphImage> images_;
};

}  // namespace attnviz
