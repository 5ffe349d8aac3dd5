// A font file opened with HarfBuzz: shaped text, outlines and colour images of its glyphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/picture/fonts/glyphs.h"

namespace attnviz {

// A font file's bytes, and a first check of them.

/// One face of a font file (TrueType, OpenType or a collection of them), untrusted.
struct FontFile {
  std::string name;                   // the path: unique for each file
  std::string_view bytes;             // the whole file
  std::shared_ptr<const void> owner;  // keeps the bytes in place
  unsigned face = 0;                  // in a collection
};

/// Returns a font that has the character, or nothing; always the same answer for the same
/// character.
using FindFont = std::function<std::optional<FontFile>(char32_t code_point)>;

/// Throws Error{kMalformed} unless the file begins like a TrueType or OpenType font whose tables
/// lie inside the file. Other errors remain possible; glyphs that cannot be drawn become boxes.
void check_font_file(const FontFile& file);

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

/// A glyph's image in a colour font.
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

  /// Returns the glyphs of a text of one script and direction, from left to right.
  std::vector<ShapedGlyph> shape(std::span<const char32_t> text, bool right_to_left) const;

  /// Returns the ink's box as stored in the font; all zero without ink, or if larger than any
  /// letter.
  GlyphExtents extents(std::uint32_t glyph) const;

  /// In ems. Empty for a blank glyph, or if larger than any letter.
  Outline outline(std::uint32_t glyph) const;

  /// Null when the glyph has only an outline.
  const GlyphImage* image(std::uint32_t glyph) const;

 private:
  struct Handles;

  FontFace();

  std::unique_ptr<Handles> handles_;
  mutable std::map<std::uint32_t, GlyphImage> images_;
};

// The fonts that a picture's texts are drawn with, and the space that texts take in them.
// Characters that the embedded font lacks are taken from given fonts first, then from fonts found
// by character.

/// Fonts in the order in which a character is looked up: the embedded monospaced font, given ones,
/// those that `find` returns. A character that none has is drawn as a box with its code point.
/// Texts are measured in whole columns of the embedded font. Other fonts need HarfBuzz on the
/// system (see can_draw_other_fonts). Use one FontSet per thread, because it caches what it found.
class FontSet {
 public:
  /// The embedded font alone: the same everywhere. Several threads may use it.
  static const FontSet& embedded();

  explicit FontSet(std::vector<FontFile> given, FindFont find = nullptr);
  ~FontSet();

  /// Returns the glyphs that draw `text` (valid UTF-8), as for glyph_run. Their faces live as long
  /// as this.
  GlyphRun run(std::string_view text) const;

  /// Returns the columns that `text` takes when drawn; 0 only for the empty text.
  std::size_t columns(std::string_view text) const;

  /// Cuts `text` between grapheme clusters to at most `columns` (at least 2); a cut text ends in
  /// `…`.
  std::string shorten(std::string_view text, std::size_t columns) const;

  /// Breaks `text` at line feeds and at spaces (inside a word only if the word is wider than a
  /// line) into lines of at most `columns` (at least 2); the last of `max_lines` ends in `…` if
  /// text is left. Trailing blanks and line feeds do not make lines.
  std::vector<std::string> wrap(std::string_view text, std::size_t columns,
                                std::size_t max_lines) const;

 private:
  FontSet();

  std::string_view beginning(std::string_view text, std::size_t columns) const;
  std::size_t fitting_bytes(std::string_view text, std::size_t columns) const;
  std::size_t line_bytes(std::string_view text, std::size_t columns) const;
  std::string ended_by_ellipsis(std::string_view text, std::size_t columns) const;

  std::unique_ptr<FontFallback> fallback_;  // null: the embedded font alone
};

/// Whether fonts other than the embedded one can be drawn on this system. Loads HarfBuzz.
bool can_draw_other_fonts() noexcept;

/// Whether a character only affects its neighbours, such as joiners and variation selectors.
bool is_invisible(char32_t code_point) noexcept;

class FontFallback {
 public:
  FontFallback(std::vector<FontFile> given, FindFont find);

  /// Returns a font for a cluster that the embedded font cannot draw completely: one with every
  /// visible character of the cluster, else one with at least the first character, unless the
  /// embedded font has it; else null. `last` is the answer for the cluster before: texts, and
  /// scripts, keep their font where they can. Faces stay open as long as this lives.
  const FontFace* face_for(std::span<const char32_t> cluster, const FontFace* last);

 private:
  const FontFace* open(const FontFile& file);
  const FontFace* given(std::span<const char32_t> cluster);
  const FontFace* found(std::span<const char32_t> cluster);

  std::vector<FontFile> given_;
  FindFont find_;
  // By file name and face. The address of a file would not do: after unmapping, another file may
  // get the same address.
  std::map<std::pair<std::string, unsigned>, std::unique_ptr<FontFace>> open_;
  std::map<char32_t, const FontFace*> found_;
  std::map<std::string_view, const FontFace*> by_script_;
};

}  // namespace attnviz
