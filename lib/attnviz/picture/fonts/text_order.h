// What Unicode says about a text: the order of right-to-left words, scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

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
