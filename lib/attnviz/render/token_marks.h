// Which tokens are no plain words of the text, and how labels and documents say so.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"
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

/// Puts "*" before the labels of special tokens and "+" before those of generated ones.
void mark_labels(const TokenMarks& marks, std::vector<std::string>& labels);

/// What these signs mean, in one line; empty when no label has one.
std::string marks_note(const TokenMarks& marks);

/// The member `marks` of an object that is open in `json`: {"special": [0], "added": [0]}; nothing
/// when no token has any.
void write_marks_member(JsonWriter& json, const TokenMarks& marks);

/// That member's value. Throws Error{kMalformed} for what are no indices below `n_tokens`.
TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens);

}  // namespace attnviz
