// The fonts that a picture's texts are drawn with, and how much room texts take in them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/picture/fonts/font_file.h"
#include "attnviz/picture/fonts/glyph_run.h"

namespace attnviz {

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

}  // namespace attnviz
