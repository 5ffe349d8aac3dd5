// Tokens that are pieces of one word, brought together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The word of each token, [size()], numbered from 0 without gaps.
///
/// Neighbours are of one word when what they say, leading white space aside, begins in the same
/// Unicode word of the source (UAX 29; "don't" is one, "3.14" too). Special tokens, white space and
/// punctuation marks are words of their own; but where other pieces carry the space before them, a
/// piece that is one space belongs to the word behind it.
std::vector<std::size_t> word_numbers(const TokenizedText& text);

/// One token a word: the piece itself, or, of several, what stands in the source; the id of the
/// first; generated when a piece is. Precondition: `numbers` are those of the text's tokens.
TokenizedText merged_words(const TokenizedText& text, std::span<const std::size_t> numbers);

}  // namespace attnviz
