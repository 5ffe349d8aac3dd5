// The fonts that a picture's texts are drawn with, and how much room texts take in them. Fonts for
// what the embedded one lacks: given ones first, then whatever is found by character.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/picture/fonts/font_face.h"
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
