// The tokens of a text as labels, and as they are called in a sentence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/token_marks.h"

namespace attnviz {

/// Tokens as labels: safe to print, 7-bit when `ascii`, told apart where one occurs several times.
class TokenNames {
 public:
  TokenNames(const std::vector<std::string_view>& pieces, bool ascii);

  /// The token as a label, not cut.
  const std::string& label(std::size_t token) const { return labels_[token]; }
  /// "3 sat": with its index, indices as wide as the largest.
  std::string indexed(std::size_t token) const;
  /// `"sat"`: in quotes, without the space before it.
  const std::string& word(std::size_t token) const { return words_[token]; }
  /// In a sentence: the same, and `"the" (4)` where there are several.
  std::string quoted(std::size_t token) const;

 private:
  std::vector<std::string> labels_;
  std::vector<std::string> words_;
  std::vector<bool> is_repeated_;
  std::size_t index_width_ = 1;
};

// A piece in a sentence or a title, raw as the tokenizer has it. The space that it begins with
// belongs to the line, not to the word.

/// `"it"`: printable, and cut as quoted() cuts.
std::string quoted_token(std::string_view piece);
/// `"it" (8)`: with its index, for words come more than once.
std::string named_token(std::string_view piece, std::size_t index);

// The signs that labels of tokens carry where these are no plain words of the text.

/// Puts "*" before the labels of special tokens and "+" before those of generated ones.
void mark_labels(const TokenMarks& marks, std::vector<std::string>& labels);

/// What these signs mean, in one line; empty when no label has one.
std::string marks_note(const TokenMarks& marks);

}  // namespace attnviz
