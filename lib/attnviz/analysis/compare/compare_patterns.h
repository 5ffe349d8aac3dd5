// How differently each head looks in two runs: head by head, while the second one goes on.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/analysis/sink_store.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/exact_sum.h"

namespace attnviz {

/// The Jensen–Shannon divergence of two rows of weights, each scaled to sum to 1: the mean of
/// KL(a ‖ m) and KL(b ‖ m) with m = (a + b) / 2. Bits, in [0, 1]: 0 when the rows are the same, 1
/// when no key has weight in both. Nothing where one of the rows is 0 throughout.
///
/// Source  Lin 1991, "Divergence Measures Based on the Shannon Entropy", eq. 4.1.
std::optional<double> js_divergence_bits(std::span<const float> a, std::span<const float> b);

/// One head in a first and a second run. Queries and keys are rows and columns of the patterns.
struct HeadDifference {
  HeadId head;
  // Over the queries that see two keys or more in either run; absent where there is none. What goes
  // to a learned sink is one more key's.
  std::optional<double> js_bits;      // the mean
  std::optional<double> js_bits_max;  // of one such query
  std::size_t js_max_query = 0;
  float largest_change = 0.0f;  // of one weight, without sign
  std::size_t query = 0;        // where; of equal ones the first, by query, then key
  std::size_t key = 0;
  std::array<float, 2> weights = {};  // there, in the first and in the second run
};

/// Of one of two runs: which token of its text each row stands for, and who sees whom.
struct ComparedRun {
  std::span<const std::size_t> tokens;
  std::function<Visibility(HeadId)> visibility;
};

/// Compares the rows of a run with the patterns of another, as they come. The result depends on
/// neither threads nor the order of blocks.
class PatternComparison : public PatternSink {
 public:
  /// `first` holds the other run's patterns, and must outlive this; `first_sinks` what its queries
  /// gave to learned sinks. A query that sees two keys or more in either run is counted.
  PatternComparison(const PatternStore& first, const ComparedRun& one, const ComparedRun& other,
                    const SinkStore* first_sinks = nullptr);

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;

  /// By layer, then head.
  std::vector<HeadDifference> differences() const;

 private:
  struct Tally {
    HeadDifference found;
    ExactSum js_sum;
    std::size_t n_queries = 0;
    std::size_t eligible = 0;  // of eligible_
    // To learned sinks, [n_tokens]; of the first run empty without one.
    std::vector<float> first_sinks, second_sinks;
  };

  const PatternStore& first_;
  std::vector<std::vector<bool>> eligible_;  // queries, for each visibility
  std::map<HeadId, Tally> heads_;
  std::array<std::mutex, 64> locks_;  // each for every 64th head of a layer
};

/// B − A of patterns of one shape.
MatrixBuffer pattern_change(ConstMatrix a, ConstMatrix b);

}  // namespace attnviz
