// The box of a text: a line of the embedded font's columns, level or turned. What Unicode says
// about a text: the order of right-to-left words, scripts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// A font size is given as the width of a column in whole pixels (5 to 9 at 96 dpi), so that level
/// text sits on whole pixels. A line is about twice as high.
int line_height(int column_width) noexcept;

/// From the top of a line to its baseline.
int baseline(int column_width) noexcept;

/// The pixel `along` to the right and `down` from the origin, as the reader of the text sees it.
PixelPoint turned(double along, double down, TextAngle angle) noexcept;

/// The corners of a text's box (columns x line height), turned around its top left corner `origin`:
/// top left, top right, bottom right, bottom left, as the reader of the text would call them.
std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept;

/// A text in the order of its characters, and what its directions make of it.
struct OrderedText {
  std::u32string characters;
  /// As long: Arabic letters in the forms that join them and mirrored brackets, for a font that is
  /// drawn character by character. U+FEFF stands where a letter became part of the one before.
  std::u32string forms;
  std::vector<std::uint8_t> levels;  // odd: right to left
};

/// Levels and forms of one line. Its direction is that of its first letter.
///
/// Source  Unicode Bidirectional Algorithm (UAX 9), as FriBidi has it.
OrderedText order_text(std::u32string characters);

/// A sentence with right-to-left characters gets each quoted part (`"…"`) in an isolate (U+2068 …
/// U+2069), so that what stands around it keeps its order; a last quote without a partner stays as
/// it is. Other sentences are returned unchanged.
std::string isolate_quotes(std::string_view sentence);

/// Ends on each line the isolate that is open there, and begins it again on the next, after the
/// lines were made of one sentence.
void balance_isolates(std::vector<std::string>& lines);

/// The indices of items with these levels from left to right (rule L2 of UAX 9).
std::vector<std::size_t> visual_order(std::span<const std::uint8_t> levels);

/// The script that a character belongs to ("Arabic", "Han"); empty for what all scripts share, such
/// as punctuation, accents and emoji.
std::string_view script_of(char32_t code_point) noexcept;

}  // namespace attnviz
