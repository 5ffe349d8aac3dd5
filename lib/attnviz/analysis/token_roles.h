// What kind of token each one is, and how much it says about a head that one attends to another.
// The most informative head by this evidence, found while rows arrive.
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
  /// For the tokens of queries and of keys. `marks` belong to the queries, and also to the keys if
  /// these are the same tokens; otherwise `key_marks` belong to the keys.
  TokenRoles(const std::vector<std::string>& queries, const std::vector<std::string>& keys,
             const TokenMarks& marks, const TokenMarks& key_marks = {});

  /// kScore for a key that is not a content word, and for queries that are special tokens or pieces
  /// of words. Otherwise kContinuation for the last query, if `reads_on` (no query sees later keys,
  /// so the model continues from there) and its word cannot end a sentence: "The", "to", "because".
  /// If queries and keys are one text and the key followed an earlier copy of the query's own word:
  /// kRepetition for a content word, else kScore. kPronoun for a query that is a pronoun.
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

/// Scores heads by what their tokens are, while their rows arrive: pronouns and repeated words
/// count before other evidence.
class InformativeSearch : public PatternSink {
 public:
  /// `groups`: at least one head; together by layer, then head. Each pattern has [n_queries,
  /// n_keys] tokens, which `roles` describes: of one text or, as in cross-attention, of two.
  InformativeSearch(TokenRoles roles, const std::vector<MaskedHeads>& groups, std::size_t n_queries,
                    std::size_t n_keys, bool of_two_texts = false);

  /// Roughly the bytes needed for heads that are computed layer by layer.
  static double bytes(const std::vector<HeadId>& heads, std::size_t n_tokens);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// The head preferred to all others, once all rows have arrived.
  InformativeHead best() const;

 private:
  std::vector<std::unique_ptr<InformativeHeads>> groups_;  // in the order given
  std::map<HeadId, InformativeHeads*> group_of_;
};

// How much attention each turn of a chat gets: which turns fill a context, and which feed it.

/// Shares of attention that the tokens of each of token_turns() get, averaged over heads: they sum
/// to 1, unless dropout was on.
struct TurnAttention {
  std::vector<float> mean;       // over all queries
  std::vector<float> from_last;  // over the queries of the last turn, which the model continues
};

/// Measures TurnAttention while attention is computed.
class TurnAttentionSink : public PatternSink {
 public:
  /// `turns`: the text folded by turns. `largest_sum`: no row of weights has a larger sum.
  TurnAttentionSink(const std::vector<HeadId>& heads, const FoldedText& turns, float largest_sum);

  bool wants(HeadId head) const override { return merged_.wants(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    merged_.rows(head, first_query, first_key, weights);
  }

  /// The result, once all rows of the heads have arrived; may be called once.
  TurnAttention take();

 private:
  std::vector<std::size_t> n_tokens_;  // of each turn
  AverageSink means_;
  MergeSink merged_;
};

}  // namespace attnviz
