// What the tokens of a document are, and what it tells of a head that one looks at another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/telling_head.h"
#include "attnviz/render/attention_document.h"

namespace attnviz {

/// Does not look at the document once it is made.
class TokenRoles {
 public:
  explicit TokenRoles(const AttentionDocument& document);

  /// Of a key that is no content word, and of special tokens and pieces of words as queries:
  /// kScore. Else kRepetition where queries and keys are one text and the key followed the query's
  /// own word when that came before, unless this is a pronoun; kPronoun where the query is one.
  Evidence evidence(std::size_t query, std::size_t key) const;

 private:
  struct Word {
    std::string text;  // without spaces before it
    bool is_whole = true;
    bool is_pronoun = false;
    bool is_content = false;
  };

  static std::vector<Word> words_of(const std::vector<std::string>& tokens);

  std::vector<Word> queries_;
  std::vector<Word> keys_;
  bool is_one_text_;
};

}  // namespace attnviz
