// A text as the glyphs that draw it, on the columns of the monospaced font.
#pragma once

#include <cstddef>
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

}  // namespace attnviz
