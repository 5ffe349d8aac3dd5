// What one head does on the whole, in a few numbers.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// Means over the queries of one head; of a query that sees nothing everything is 0.
struct HeadSummary {
  double entropy = 0.0;   // of a query's weights, in bits: 0 looks at one key, log2 n at n alike
  double first = 0.0;     // weight on the first key (an attention sink)
  double previous = 0.0;  // weight on the token before the query
  double self = 0.0;      // weight on the query's own token
  double distance = 0.0;  // |query - key| in tokens, weighted
};

/// Summarises heads from their rows, in double precision; keeps five numbers a query.
///
/// Source  entropy: Shannon 1948; attention entropy as a head's property: Clark et al. 2019, "What
///         does BERT look at?", section 3.3.
class HeadStatistics : public PatternSink {
 public:
  /// `heads` without repeats.
  HeadStatistics(const std::vector<HeadId>& heads, std::size_t n_tokens);

  bool wants(HeadId head) const override { return rows_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Of a wanted head, once all of its rows have come: the same whatever threads brought them.
  HeadSummary summary(HeadId head) const;

 private:
  std::map<HeadId, std::vector<HeadSummary>> rows_;  // by query
};

}  // namespace attnviz
