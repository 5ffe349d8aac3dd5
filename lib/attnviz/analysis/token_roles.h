// What the tokens of a text are, and what it tells of a head that one looks at another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/telling_head.h"
#include "attnviz/text/token_marks.h"

namespace attnviz {

class TokenRoles {
 public:
  /// Of the tokens of queries and of keys; `marks` are of the queries, and of the keys when these
  /// are the same tokens, else `key_marks` are.
  TokenRoles(const std::vector<std::string>& queries, const std::vector<std::string>& keys,
             const TokenMarks& marks, const TokenMarks& key_marks = {});

  /// Of a key that is no content word, and of special tokens and pieces of words as queries:
  /// kScore. Else kContinuation of the last query, where `reads_on` (no query sees keys behind it,
  /// so that the model goes on from there) and no sentence ends with such a word: "The", "to",
  /// "because"; kRepetition where queries and keys are one text and the key followed the query's
  /// own word when that came before, unless this is a pronoun; kPronoun where the query is one.
  Evidence evidence(std::size_t query, std::size_t key, bool reads_on) const;

 private:
  struct Word {
    std::string text;  // without spaces before it
    bool is_whole = true;
    bool is_pronoun = false;
    bool is_content = false;
    bool is_open = false;  // a function word: more must follow
  };

  static void drop_marked(const TokenMarks& marks, std::vector<Word>& words);
  static std::vector<Word> words_of(const std::vector<std::string>& tokens);

  std::vector<Word> queries_;
  std::vector<Word> keys_;
  bool is_one_text_;
};

}  // namespace attnviz
