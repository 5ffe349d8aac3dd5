// What the tokens of a text are, and what it tells of a head that one looks at another. The most
// telling head of those whose rows come, by what the tokens are.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/units.h"

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

/// Heads whose queries see the same keys.
struct MaskedHeads {
  Visibility visibility;
  std::vector<HeadId> heads;
};

/// Scores heads by what their tokens are, while their rows come: pronouns and repeated words speak
/// for a head before others do.
class InformativeSearch : public PatternSink {
 public:
  /// `groups`: at least one head; together by layer, then head. Each pattern is of [n_queries,
  /// n_keys] tokens, which are what `roles` says; of one text, or, as in cross-attention, of two.
  InformativeSearch(TokenRoles roles, const std::vector<MaskedHeads>& groups, std::size_t n_queries,
                    std::size_t n_keys, bool of_two_texts = false);

  /// What it takes, about, for heads that are computed layer by layer.
  static double bytes(const std::vector<HeadId>& heads, std::size_t n_tokens);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// The head that is before all others, once all rows have come.
  InformativeHead best() const;

 private:
  std::vector<std::unique_ptr<InformativeHeads>> groups_;  // as they were given
  std::map<HeadId, InformativeHeads*> group_of_;
};

// How much attention each turn of a chat gets: what fills a context, and what feeds it.

/// Shares of attention that the tokens of each of token_turns() get, means over heads: they sum to
/// 1, unless dropout was on.
struct TurnAttention {
  std::vector<float> mean;       // over all queries
  std::vector<float> from_last;  // over the queries of the last of them, behind which comes more
};

/// Measures it while attention is computed.
class TurnAttentionSink : public PatternSink {
 public:
  /// `turns`: the text folded by turns. `largest_sum`: no row of weights sums to more.
  TurnAttentionSink(const std::vector<HeadId>& heads, const FoldedText& turns, float largest_sum);

  bool wants(HeadId head) const override { return merged_.wants(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    merged_.rows(head, first_query, first_key, weights);
  }

  /// Once every row of the heads has come; may be called once.
  TurnAttention take();

 private:
  std::vector<std::size_t> n_tokens_;  // of each turn
  AverageSink means_;
  MergeSink merged_;
};

}  // namespace attnviz
