// How well a tokenizer's vocabulary fits a text: words in many pieces are words it has hardly met.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

struct VocabularyFit {
  std::size_t n_tokens = 0;            // that stand for the text: without those a tokenizer added
  std::size_t n_in_pieces = 0;         // of words in three pieces or more
  std::vector<std::string> in_pieces;  // these words, each once, in order of first appearance

  /// Whether a third of the tokens or more are pieces of such words.
  bool is_far() const noexcept { return n_in_pieces > 0 && 3 * n_in_pieces >= n_tokens; }
};

/// Words are those of word_numbers().
VocabularyFit vocabulary_fit(const TokenizedText& text);

}  // namespace attnviz
