// The tokens of a text as labels, and their names in sentences. The keys of one query in sentences:
// sorted, distinguished, and named as a person would. The signs of formulas in 7 bits.
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

/// Tokens as labels: safe to print, 7-bit if `ascii`, distinguished if one occurs several times.
class TokenNames {
 public:
  TokenNames(const std::vector<std::string_view>& pieces, bool ascii);

  /// The token as a label, not cut.
  const std::string& label(std::size_t token) const { return labels_[token]; }
  /// "3 sat": with its index, padded to the width of the largest.
  std::string indexed(std::size_t token) const;
  /// `"sat"`: in quotes, without the space before it.
  const std::string& word(std::size_t token) const { return words_[token]; }
  /// In a sentence: the same, with the index if the word is repeated: `"the" (4)`.
  std::string quoted(std::size_t token) const;

 private:
  std::vector<std::string> labels_;
  std::vector<std::string> words_;
  std::vector<bool> is_repeated_;
  std::size_t index_width_ = 1;
};

// Names of a token in a sentence or a title, from the tokenizer's piece. The space that it begins
// with belongs to the line, not to the word.

/// `"it"`: printable, and cut as quoted() cuts.
std::string quoted_token(std::string_view piece);
/// `"it" (8)`: with its index, because words may be repeated.
std::string named_token(std::string_view piece, std::size_t index);

// The signs on labels of tokens that are not plain words of the text.

/// Puts "*" before the labels of special tokens and "+" before those of generated ones.
void mark_labels(const TokenMarks& marks, std::vector<std::string>& labels);

/// The meaning of these signs, in one line; empty if no label has one.
std::string marks_note(const TokenMarks& marks);

/// The keys of one query for the sentences of a page. The head and the names must outlive it.
class KeyWords {
 public:
  using Keys = std::vector<std::size_t>;

  KeyWords(const Inspection& head, const TokenNames& names);

  /// The query's token, from TokenNames::quoted().
  const std::string& query() const noexcept { return query_; }
  const Keys& visible() const noexcept { return visible_; }
  const Keys& hidden() const noexcept { return hidden_; }

  /// All keys tied with the first in `sorted`, which are sorted by `values`: equal within the
  /// rounding of floats. In order of position.
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

/// q · k becomes q * k, √d sqrt(d), → ->. 7-bit text stays unchanged.
std::string in_ascii(std::string_view formula);

// The interventions of a run, in words.

/// One line per intervention: "without heads 2.1, 3.0 (their means in their place)", "without the
/// MLP of layer 2", "hidden from token 5: tokens 0-2, in layers 1-2". Tokens are named by their
/// indices.
std::vector<std::string> intervention_notes(const Interventions& interventions);

/// The same in a title: "without 2.1", "without L2.mlp"; "changed" for several, "edges hidden" for
/// edges alone.
std::string intervention_title(const Interventions& interventions);

/// "2.1", "L2" for the attention of a layer, "L2.mlp": the form that options take.
std::string ablation_name(const Ablation& ablation);

}  // namespace attnviz
