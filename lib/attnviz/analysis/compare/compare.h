// What differs between two models, two runs and two tensors.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Whether the heads of two models correspond: as many layers, and in each as many heads. Throws
/// Error{kUsage} that says what differs.
void require_same_heads(const Model& a, const Model& b);

/// What differs in how two models compute, beside their tensors and masks: "norms' epsilon". In
/// words, in the order of a run. Precondition: as many heads in each layer.
std::vector<std::string> different_settings(const Model& a, const Model& b);

/// How far the residual streams are apart: ‖x_A − x_B‖ / ‖x_A‖ of each token; 1 where x_A is 0 and
/// x_B is not.
struct Departure {
  std::optional<std::size_t> layer;  // after it; absent: what enters the first one
  double largest = 0.0;              // of one token
  std::size_t token = 0;             // the first such
  double mean = 0.0;                 // over tokens
};

/// Keeps the residual stream before the first layer and after each of a run.
class StreamStore : public RunObserver {
 public:
  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kAfter || (step == LayerStep::kBefore && layer == 0);
  }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// In the order of the run, [n_tokens, d_model] each.
  const std::vector<MatrixBuffer>& streams() const noexcept { return streams_; }

 private:
  std::vector<MatrixBuffer> streams_;
};

/// What a StreamStore keeps; an estimate.
double stream_bytes(const Model& model, std::size_t n_tokens) noexcept;

/// Compares the streams of another run with these, and keeps the last one.
class StreamComparison : public RunObserver {
 public:
  /// `first`, of a model with as many layers, must outlive it.
  explicit StreamComparison(const StreamStore& first) : first_(first) {}

  bool wants(std::size_t layer, LayerStep step) const override { return first_.wants(layer, step); }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// After each; empty where the streams are of different widths.
  const std::vector<Departure>& departures() const noexcept { return departures_; }
  ConstMatrix last() const noexcept { return last_.view(); }

 private:
  const StreamStore& first_;
  std::vector<Departure> departures_;
  std::size_t n_seen_ = 0;
  MatrixBuffer last_;
};

/// Σ p_A log2(p_A / p_B) over the vocabulary, in bits, of what two models predict from what leaves
/// their last layers, [n_tokens, d_model]: one number a token. Empty when one of them predicts
/// nothing, or when their vocabularies differ in size. Throws Error{kMalformed} when a logit is not
/// finite.
std::vector<double> prediction_kl_bits(const Model& a, ConstMatrix from_a, const Model& b,
                                       ConstMatrix from_b, std::size_t n_threads);

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

/// Token first[i] of one text corresponds to second[i] of the other; both rise.
struct TokenAlignment {
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
  std::vector<bool> is_same;  // whether that is the same token
  bool by_position = true;    // texts of equal length: every token to the one at its place

  std::size_t size() const noexcept { return first.size(); }
};

/// Texts of one length token by token, whatever these are; others by a longest common subsequence,
/// of several the same one each time. Tokens are the same when their texts are. Throws
/// Error{kUsage} when fewer than two tokens correspond, and for texts that are too long to be
/// aligned.
TokenAlignment align_tokens(const TokenizedText& first, const TokenizedText& second);

/// ‖a − b‖ / ‖a‖ of numbers that correspond, in double precision; nothing where only a is 0.
std::optional<double> relative_error(std::span<const float> a, std::span<const float> b);

/// ‖A − B‖_F / ‖A‖_F of one tensor.
struct TensorDifference {
  std::optional<std::size_t> layer;    // absent: of the whole model
  std::string name;                    // "W_Q": of all heads together
  std::optional<double> relative;      // absent where shapes differ, or A is 0 and B is not
  std::optional<std::size_t> only_in;  // 0: A alone has such a tensor; 1: B
};

/// Of every tensor that one of the models has: embeddings, projections, biases, norms, and the
/// unembedding unless this is the embeddings. Stored numbers are compared as the floats that they
/// stand for, norms' weights as what they multiply by, and those of queries and keys that are
/// ordered for another pairing of rotary positions in one order. In the order of a run.
/// Precondition: as many heads in each layer.
std::vector<TensorDifference> compare_tensors(const Model& a, const Model& b,
                                              std::size_t n_threads);

}  // namespace attnviz
