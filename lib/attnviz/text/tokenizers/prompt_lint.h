// How well a tokenizer's vocabulary fits a text: words in many pieces are words it has hardly met.
// Faults of prompts that were made by hand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

struct VocabularyFit {
  std::size_t n_tokens = 0;        // that stand for the text: without those a tokenizer added
  std::size_t n_in_pieces = 0;     // of words in pieces
  std::size_t n_words = 0;         // these, each counted once
  std::vector<std::string> named;  // the first of them, at most three

  /// Whether pieces of such words are a third of the tokens or more, and four at least.
  bool is_far() const noexcept { return n_in_pieces >= 4 && 3 * n_in_pieces >= n_tokens; }
};

/// A word in pieces has letters (of any script, or an emoji) and three pieces or more, or bytes
/// that are no UTF-8. Words are those of word_numbers().
VocabularyFit vocabulary_fit(const TokenizedText& text);

/// What is probably wrong with a text for a model that has chats, in a line; empty when nothing
/// is:
///
/// - it begins with BOS twice: one was written, and the tokenizer put another one in front;
/// - signs of turns ("<|im_start|>", "[INST]", "<start_of_turn>", …) stand in it as plain text,
///   because they were not recognised as tokens, or are no tokens of this model at all.
///
/// Texts whose turns were rendered are looked at for the first alone: who writes signs of turns in
/// a message means them.
std::string prompt_fault(const TokenizedText& text, const ModelTokenizer& tokenizer);

}  // namespace attnviz
