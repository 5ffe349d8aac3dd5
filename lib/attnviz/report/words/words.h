// The tokens of a text as labels, and as they are called in a sentence. The keys of one query in
// sentences: sorted, told apart, and named as a person would. The signs that formulas are written
// with, in 7 bits.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/text/tokenized_text.h"

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

/// What the sentences of a page have in common. The head and the names must outlive it.
class KeyWords {
 public:
  using Keys = std::vector<std::size_t>;

  KeyWords(const Inspection& head, const TokenNames& names);

  /// The query's token, as TokenNames::quoted() has it.
  const std::string& query() const noexcept { return query_; }
  const Keys& visible() const noexcept { return visible_; }
  const Keys& hidden() const noexcept { return hidden_; }

  /// All keys that share the place of the first in `sorted`, which are sorted by `values`: equal
  /// but for the rounding of floats. In order of position.
  static Keys ties(const Keys& sorted, std::span<const float> values);
  /// The largest value first.
  static Keys sorted_by(Keys keys, std::span<const float> values);

  std::string quoted(std::size_t key) const { return names_.quoted(key); }
  /// "itself", or the key's token.
  std::string itself_or(std::size_t key) const;
  /// `"The", "cat" and 3 others`. `refers_back`: in a sentence whose subject is the query.
  std::string named(const Keys& keys, bool refers_back = false) const;

 private:
  const Inspection& head_;
  const TokenNames& names_;
  std::string query_;
  Keys visible_;
  Keys hidden_;
};

/// q · k is q * k, √d is sqrt(d), → is ->. What is 7-bit stays as it is.
std::string in_ascii(std::string_view formula);

// What a run left out, in words.

/// A line each: "without heads 2.1, 3.0 (their means in their place)", "without the MLP of layer
/// 2", "hidden from token 5: tokens 0-2, in layers 1-2". Tokens are named by their indices.
std::vector<std::string> intervention_notes(const Interventions& interventions);

/// The same in a title: "without 2.1", "without L2.mlp"; of several "changed", of edges alone
/// "edges hidden".
std::string intervention_title(const Interventions& interventions);

/// "2.1", "L2" for the attention of a layer, "L2.mlp": as options take it.
std::string ablation_name(const Ablation& ablation);

}  // namespace attnviz
