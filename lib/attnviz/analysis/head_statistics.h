// What one head does on the whole, in a few numbers; the largest weight of all.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
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

/// Keeps nothing of the patterns but their largest weight, for scales that follow the data.
class LargestWeight : public PatternSink {
 public:
  explicit LargestWeight(const std::vector<HeadId>& heads) : heads_(heads.begin(), heads.end()) {}

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Of all wanted heads; 0 before any row has come. Not while rows come.
  float value() const noexcept { return largest_; }

 private:
  std::set<HeadId> heads_;
  std::mutex mutex_;
  float largest_ = 0.0f;
};

}  // namespace attnviz
