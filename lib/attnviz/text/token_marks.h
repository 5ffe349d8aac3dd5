// Which tokens are no plain words of the text.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Indices of tokens, in rising order.
struct TokenMarks {
  std::vector<std::size_t> special;    // of the vocabulary's special tokens
  std::vector<std::size_t> added;      // by the tokenizer
  std::vector<std::size_t> generated;  // by the model
  std::vector<std::size_t> second;     // of the second text of a pair

  bool operator==(const TokenMarks&) const = default;
};

TokenMarks token_marks(const TokenizedText& text);

}  // namespace attnviz
