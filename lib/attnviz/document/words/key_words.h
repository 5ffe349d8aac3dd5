// The keys of one query in sentences: sorted, told apart, and named as a person would.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

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

}  // namespace attnviz
