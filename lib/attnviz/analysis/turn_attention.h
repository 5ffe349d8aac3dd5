// How much attention each turn of a chat gets: what fills a context, and what feeds it.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/sinks.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/text/fold.h"

namespace attnviz {

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
