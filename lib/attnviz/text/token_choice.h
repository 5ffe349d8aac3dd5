// Which token of a text a word names: its text, its index, or one of several that are alike.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// A token, and what is to be said of how it was chosen.
struct TokenChoice {
  std::size_t index = 0;  // of TokenizedText::tokens
  std::string note;       // empty when the word names one token only; else a sentence to print
};

/// The token of `text` that `word` names:
///
///   3, -1   a whole number is an index; negative ones count from the end;
///   cat     the token's text: exactly; else without the spaces around it, or as it is shown
///   (␠cat);
///           else whatever its case and its Unicode normal form, with a note. Of several the last,
///           with a note;
///   cat#2   the second of the tokens "cat" (1-based), found as above;
///   =3      the token "3", not the index; the rest is a text even where it looks like more.
///
/// Throws Error{kUsage} that begins with `parameter`, what the caller calls it, and names the
/// tokens there are. Precondition: the text has tokens.
TokenChoice choose_token(const TokenizedText& text, std::string_view word,
                         std::string_view parameter);

/// Tokens, and what is to be said of how they were chosen.
struct TokenChoices {
  std::vector<std::size_t> indices;  // rising
  std::string note;
};

/// The same where a word that several tokens have means all of these.
TokenChoices choose_tokens(const TokenizedText& text, std::string_view word,
                           std::string_view parameter);

/// The tokens that any of `words` lies in, whatever these are cut into, wherever it stands in the
/// text as a word or several: "the cat". The note says which these are. Throws Error{kUsage} that
/// begins with `parameter` when the text does not say it.
TokenChoices tokens_of_words(const TokenizedText& text, std::string_view words,
                             std::string_view parameter);

// Texts that are longer than a model's context.

/// Which end of a text is left out.
enum class TruncateSide { kLeft, kRight };

inline constexpr std::array kTruncateSides = {Choice{"left", TruncateSide::kLeft},
                                              Choice{"right", TruncateSide::kRight}};

/// Leaves out so many tokens that `most` are left. Those that the tokenizer added stay; of a pair
/// the longer text loses first, the second one when both are as long (as Hugging Face's
/// `longest_first`). The source stays whole, and what is left keeps its ranges. Throws
/// Error{kUsage} when the added tokens alone are more.
TokenizedText truncated(TokenizedText text, std::size_t most, TruncateSide side);

}  // namespace attnviz
