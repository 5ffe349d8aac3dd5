// Which token of a text a word names: by its text, by its index, or as one of several equal tokens.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// A token, and a note on how it was chosen.
struct TokenChoice {
  std::size_t index = 0;  // of TokenizedText::tokens
  std::string note;       // a sentence to print; empty if the word names only one token
};

/// The token of `text` that `word` names:
///
///   3, -1   a whole number is an index; negative ones count from the end;
///   cat     the token's text: an exact match; otherwise without surrounding spaces or as shown
///           (␠cat); otherwise ignoring case and Unicode normal form, with a note. If several
///           match, the last, with a note;
///   cat#2   the second of the tokens "cat" (1-based), found as above;
///   =3      the token "3", not the index; the rest is a text even if it looks like something else.
///
/// Throws Error{kUsage} that begins with `parameter`, the caller's name for it, and lists the
/// available tokens. Precondition: the text has tokens.
TokenChoice choose_token(const TokenizedText& text, std::string_view word,
                         std::string_view parameter);

/// Tokens, and a note on how they were chosen.
struct TokenChoices {
  std::vector<std::size_t> indices;  // ascending
  std::string note;
};

/// The same, but a word that several tokens match means all of them.
TokenChoices choose_tokens(const TokenizedText& text, std::string_view word,
                           std::string_view parameter);

/// The tokens that contain any part of `words` ("the cat"), wherever these occur in the text as
/// whole words, regardless of how they are cut into tokens. The note lists the tokens. Throws
/// Error{kUsage} that begins with `parameter` if the text does not contain the words.
TokenChoices tokens_of_words(const TokenizedText& text, std::string_view words,
                             std::string_view parameter);

// Texts that are longer than a model's context.

/// The end at which a text is cut off.
enum class TruncateSide { kLeft, kRight };

inline constexpr std::array kTruncateSides = {Choice{"left", TruncateSide::kLeft},
                                              Choice{"right", TruncateSide::kRight}};

/// Removes tokens until `most` are left. Tokens that the tokenizer added stay. For a pair, the
/// longer text loses tokens first, the second if both are equally long (Hugging Face's
/// `longest_first`). The source stays whole, and the remaining tokens keep their ranges. Throws
/// Error{kUsage} if more than `most` tokens were added.
TokenizedText truncated(TokenizedText text, std::size_t most, TruncateSide side);

}  // namespace attnviz
