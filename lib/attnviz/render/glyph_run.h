// A text as the glyphs that draw it, on the columns of the monospaced font, and texts cut to fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// One glyph to draw. A character that the font lacks is drawn as a box with its code point.
struct Glyph {
  char32_t code_point = 0;
  std::size_t column = 0;   // where it starts, in columns from the left
  std::size_t columns = 1;  // 1; 2 for a box; a combining mark has its letter's
  bool in_font = true;
};

/// `text` (valid UTF-8, composed to NFC first) from left to right. Joiners, variation selectors and
/// marks that the font lacks take no room and leave no glyph, unless the text holds nothing else:
/// then its first character is a box. A text of right-to-left letters is laid out in their order.
std::vector<Glyph> glyph_run(std::string_view text);

/// Columns that `text` takes when drawn; 0 only for the empty text.
std::size_t drawn_columns(std::string_view text);

/// `text` cut between grapheme clusters to at most `columns` (at least 2) and ended by `…` when
/// cut.
std::string shorten(std::string_view text, std::size_t columns);

/// `text` broken at spaces (inside a word only when the word is wider than a line) and at line
/// feeds into lines of at most `columns` (at least 2); the last of `max_lines` ends in `…` when
/// there would be more.
std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t max_lines);

}  // namespace attnviz
