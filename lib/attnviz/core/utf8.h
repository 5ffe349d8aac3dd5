// UTF-8 for people: code points, terminal columns, and labels that are safe to print. ASCII
// letters, independent of the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// One step of decoding. An invalid byte is a step of length 1 with `valid == false` and the byte's
/// value.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
  bool valid = false;
};

/// Decodes the code point at `position`. Precondition: position < text.size(). Overlong forms,
/// surrogates and values above U+10FFFF are invalid.
CodePoint decode_utf8(std::string_view text, std::size_t position) noexcept;

/// The number of bytes from the beginning that are valid UTF-8. Checks characters that begin before
/// `end`.
std::size_t valid_utf8_prefix(std::string_view text,
                              std::size_t end = std::string_view::npos) noexcept;
/// Whether `text` is valid UTF-8 throughout.
bool is_utf8(std::string_view text) noexcept;
bool is_ascii(std::string_view text) noexcept;

/// Appends the code point. Precondition: it is a valid one.
void append_utf8(std::string& out, char32_t point);

/// Appends `<F0 9F>` for the invalid bytes from `begin` up to the next valid character; returns
/// where that begins. Precondition: the byte at `begin` is invalid.
std::size_t append_invalid_bytes(std::string_view text, std::size_t begin, std::string& out);

/// Extended grapheme clusters (Unicode UAX 29) as views into `text`, in order and without gaps.
/// Each invalid byte is a cluster of its own.
std::vector<std::string_view> grapheme_clusters(std::string_view text);

/// The number of terminal columns that `text` takes: 0 for combining marks, 2 for wide characters
/// and emoji. Meant for printable text; control characters and invalid bytes count as 0.
std::size_t display_width(std::string_view text);

/// `text` with everything made visible that a terminal could obey or hide: space ␠, tab ⇥, line
/// feed ⏎, other control characters `\x1B`, bidi controls and invisible format characters
/// `\u{202E}`, invalid bytes `<F0 9F>`. Text that is already of the form `<F0 9F>` stays. So does
/// the zero-width joiner inside an emoji sequence. The result is valid UTF-8.
std::string printable(std::string_view text);

/// Like `printable`, but keeps spaces and line feeds: for messages, not for labels.
std::string printable_message(std::string_view text);

/// `text` in 7-bit ASCII: `\s \t \n` for white space, `\x1B` for controls, `<F0 9F>` for invalid
/// bytes, `\u{732B}` for the rest.
std::string printable_ascii(std::string_view text);

/// `text` with invalid bytes written as `<F0 9F>`: valid UTF-8, for JSON.
std::string valid_utf8(std::string_view text);

/// `text` cut at a cluster boundary to at most `columns`, ending in `ellipsis` if it is cut. If
/// `columns` leaves no room besides the ellipsis: as much of the text as fits, without it.
std::string fit_width(std::string_view text, std::size_t columns, std::string_view ellipsis = "…");

/// `text` padded with spaces on the left or the right to `columns`; wider text is unchanged.
std::string pad_left(std::string_view text, std::size_t columns);
std::string pad_right(std::string_view text, std::size_t columns);

/// Converts A to Z to lower case and keeps every other byte.
inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

// Texts that Unicode considers equivalent, written the same way.

enum class LetterCase { kKept, kFolded };

/// Normal form C (UAX 15) in n log n steps, even if a character has many marks: utf8proc_map()
/// sorts marks by swapping neighbours. Text that is not valid UTF-8 is unchanged.
std::string normal_form_c(std::string_view text, LetterCase letter_case = LetterCase::kKept);

}  // namespace attnviz
