// How well a tokenizer's vocabulary fits a text: the model has rarely seen words in many pieces.
// Faults of prompts that were written by hand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

struct VocabularyFit {
  std::size_t n_tokens = 0;        // tokens of the text, without added ones
  std::size_t n_in_pieces = 0;     // tokens of words in pieces
  std::size_t n_words = 0;         // distinct words in pieces
  std::vector<std::string> named;  // the first of them, at most three

  /// Whether these words make up at least a third of the tokens, and at least four tokens.
  bool is_far() const noexcept { return n_in_pieces >= 4 && 3 * n_in_pieces >= n_tokens; }
};

/// A word in pieces has letters (of any script, or an emoji) and at least three pieces, or invalid
/// bytes. Words are those of word_numbers().
VocabularyFit vocabulary_fit(const TokenizedText& text);

/// What is probably wrong with a text for a chat model, in one line; empty if nothing is:
///
/// - it begins with BOS twice: one was written, and the tokenizer added another one in front;
/// - it contains turn markers ("<|im_start|>", "[INST]", "<start_of_turn>", …) as plain text: they
///   were not parsed as tokens, or are not tokens of this model.
///
/// Texts with rendered turns are only checked for the first: turn markers written in a message are
/// intended.
std::string prompt_fault(const TokenizedText& text, const ModelTokenizer& tokenizer);

}  // namespace attnviz
