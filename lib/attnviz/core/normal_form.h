// Texts that Unicode holds for the same, written the same.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

enum class LetterCase { kKept, kFolded };

/// Normal form C (UAX 15) in n log n steps, however many marks a character has: utf8proc_map()
/// orders them by exchanging neighbours. As it is when it is no valid UTF-8.
std::string normal_form_c(std::string_view text, LetterCase letter_case = LetterCase::kKept);

}  // namespace attnviz
