// The class of a code point, for the classes that tokenizers use.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

bool is_white_space(char32_t point) noexcept;        // the property White_Space
bool is_punctuation(char32_t point) noexcept;        // P, and ASCII symbols
bool is_number(char32_t point) noexcept;             // N
bool is_lower_case(char32_t point) noexcept;         // Ll
bool is_mark(char32_t point) noexcept;               // M
bool is_spacing_free_mark(char32_t point) noexcept;  // Mn
bool is_control(char32_t point) noexcept;            // Cc, Cf, Co: controls, formats, private use
/// \w of Rust's regular expressions (UTS #18, Annex C): Alphabetic, M, Nd, Pc, Join_Control.
bool is_word(char32_t point) noexcept;
bool is_han(char32_t point) noexcept;  // CJK ideographs, as BERT lists them

/// The name of a character's script, the same pointer for the same script; kana and the mark ー
/// count as Han. Null if it does not have a script.
const char* joined_script(char32_t point) noexcept;

/// Whether the text contains a letter of any script, or a symbol that is not punctuation (an
/// emoji).
bool has_letter(std::string_view text) noexcept;
/// The same, or a number.
bool has_letter_or_number(std::string_view text) noexcept;

/// Whether the text is not empty and all its characters are of category P.
bool is_all_punctuation(std::string_view text) noexcept;

/// Appends the lower case of `point`: one character, or two for İ.
void append_lower(std::string& out, char32_t point);

}  // namespace attnviz
