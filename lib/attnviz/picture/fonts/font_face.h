// A font file opened with HarfBuzz: shaped text, outlines and colour pictures of its glyphs.
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

// A font file's bytes, and a first look at them.

/// One face of a font file (TrueType, OpenType or a collection of them), untrusted.
struct FontFile {
  std::string name;                   // the path: another name for every file
  std::string_view bytes;             // the whole file
  std::shared_ptr<const void> owner;  // keeps the bytes in place
  unsigned face = 0;                  // in a collection
};

/// A font that has the character, or nothing. The same character must always get the same answer.
using FindFont = std::function<std::optional<FontFile>(char32_t code_point)>;

/// Throws Error{kMalformed} unless the file begins like a TrueType or OpenType font whose tables
/// lie inside the file. Much may still be wrong in it: what cannot be drawn becomes a box.
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

// The fonts that a picture's texts are drawn with, and how much room texts take in them. Fonts for
// what the embedded one lacks: given ones first, then whatever is found by character.

/// Fonts in the order in which a character is looked for: the embedded monospaced font, given ones,
/// what `find` knows. What none has is drawn as a box with its code point. Texts are measured in
/// whole columns of the embedded font. Other fonts need HarfBuzz on the system (see
/// can_draw_other_fonts). One a thread, because it remembers what it found.
class FontSet {
 public:
  /// The embedded font alone: the same everywhere. May be used by many threads.
  static const FontSet& embedded();

  explicit FontSet(std::vector<FontFile> given, FindFont find = nullptr);
  ~FontSet();

  /// The glyphs that draw `text` (valid UTF-8) as glyph_run says. Their faces live as long as this.
  GlyphRun run(std::string_view text) const;

  /// Columns that `text` takes when drawn; 0 only for the empty text.
  std::size_t columns(std::string_view text) const;

  /// `text` cut between grapheme clusters to at most `columns` (at least 2) and ended by `…` when
  /// cut.
  std::string shorten(std::string_view text, std::size_t columns) const;

  /// `text` broken at spaces (inside a word only when the word is wider than a line) and at line
  /// feeds into lines of at most `columns` (at least 2); the last of `max_lines` ends in `…` when
  /// there would be more. Blanks and line feeds at the end are no lines.
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

/// Whether a character only acts on its neighbours, such as joiners and variation selectors.
bool is_invisible(char32_t code_point) noexcept;

class FontFallback {
 public:
  FontFallback(std::vector<FontFile> given, FindFont find);

  /// A font with every visible character of a cluster of which the embedded font lacks some; else
  /// one with the first character at least; else null. `last` is the answer for the cluster before:
  /// texts keep their font where they can, and so do scripts. Faces stay open as long as this
  /// lives.
  const FontFace* face_for(std::span<const char32_t> cluster, const FontFace* last);

 private:
  const FontFace* open(const FontFile& file);
  const FontFace* given(std::span<const char32_t> cluster);
  const FontFace* found(std::span<const char32_t> cluster);

  std::vector<FontFile> given_;
  FindFont find_;
  // By file name and face. A file's address would not do: what is no longer mapped leaves its own
  // to the next file.
  std::map<std::pair<std::string, unsigned>, std::unique_ptr<FontFace>> open_;
  std::map<char32_t, const FontFace*> found_;
  std::map<std::string_view, const FontFace*> by_script_;
};

}  // namespace attnviz
