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

/// Throws Error{kUsage}, saying what differs, unless two models have the same number of layers and,
/// in each layer, of heads.
void require_same_heads(const Model& a, const Model& b);

/// How two models compute differently, apart from their tensors and masks: "norms' kind or
/// epsilon". In words, in the order of a run. Precondition: as many heads in each layer.
std::vector<std::string> different_settings(const Model& a, const Model& b);

/// How far apart two residual streams are: ‖x_A − x_B‖ / ‖x_A‖ of each token; 1 where x_A is 0 and
/// x_B is not.
struct Departure {
  std::optional<std::size_t> layer;  // after this layer; absent: before the first one
  double largest = 0.0;              // of all tokens
  std::size_t token = 0;             // the first token with it
  double mean = 0.0;                 // over tokens
};

/// Keeps the residual stream of a run before the first layer and after each layer.
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

/// Estimated bytes of a StreamStore.
double stream_bytes(const Model& model, std::size_t n_tokens) noexcept;

/// Compares another run's streams with those of a StreamStore, and keeps the last one.
class StreamComparison : public RunObserver {
 public:
  /// `first`, from a model with as many layers, must outlive it.
  explicit StreamComparison(const StreamStore& first) : first_(first) {}

  bool wants(std::size_t layer, LayerStep step) const override { return first_.wants(layer, step); }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// One for each stream; empty if the streams differ in width.
  const std::vector<Departure>& departures() const noexcept { return departures_; }
  ConstMatrix last() const noexcept { return last_.view(); }

 private:
  const StreamStore& first_;
  std::vector<Departure> departures_;
  std::size_t n_seen_ = 0;
  MatrixBuffer last_;
};

/// Σ p_A log2(p_A / p_B) over the vocabulary, in bits, one number per token: p_A and p_B are the
/// models' predictions from the outputs of their last layers, [n_tokens, d_model]. Empty if a model
/// predicts nothing or the vocabularies differ in size. Throws Error{kMalformed} if a logit is not
/// finite.
std::vector<double> prediction_kl_bits(const Model& a, ConstMatrix from_a, const Model& b,
                                       ConstMatrix from_b, std::size_t n_threads);

/// The Jensen–Shannon divergence of two rows of weights, each scaled to sum to 1: the mean of KL(a
/// ‖ m) and KL(b ‖ m) with m = (a + b) / 2. Bits, in [0, 1]: 0 for equal rows, 1 if no key has
/// weight in both. Absent if a row is all 0.
///
/// Source  Lin 1991, "Divergence Measures Based on the Shannon Entropy", eq. 4.1.
std::optional<double> js_divergence_bits(std::span<const float> a, std::span<const float> b);

/// How one head differs between a first and a second run. Queries and keys are rows and columns of
/// the patterns.
struct HeadDifference {
  HeadId head;
  // Over the queries that see two keys or more in either run; absent if none do. The weight of a
  // learned sink counts as one more key's.
  std::optional<double> js_bits;      // the mean
  std::optional<double> js_bits_max;  // of one of these queries
  std::size_t js_max_query = 0;
  float largest_change = 0.0f;  // of one weight, in absolute value
  std::size_t query = 0;        // its place; of equal ones the first, by query, then key
  std::size_t key = 0;
  std::array<float, 2> weights = {};  // its weight in the first and in the second run
};

/// One of two runs: the token of its text that each row stands for, and which keys queries see.
struct ComparedRun {
  std::span<const std::size_t> tokens;
  std::function<Visibility(HeadId)> visibility;
};

/// Compares the rows of a run with the patterns of another as they arrive. The result does not
/// depend on threads or on the order of blocks.
class PatternComparison : public PatternSink {
 public:
  /// `first` holds the other run's patterns and must outlive this; `first_sinks` holds the weights
  /// that its queries gave to learned sinks. Counts queries that see two keys or more in either
  /// run.
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
    std::size_t eligible = 0;  // index in eligible_
    // Weights of learned sinks, [n_tokens]; first_sinks is empty without one.
    std::vector<float> first_sinks, second_sinks;
  };

  const PatternStore& first_;
  std::vector<std::vector<bool>> eligible_;  // queries, one vector for each visibility
  std::map<HeadId, Tally> heads_;
  std::array<std::mutex, 64> locks_;  // one for every 64th head of a layer
};

/// B − A for two patterns of the same shape.
MatrixBuffer pattern_change(ConstMatrix a, ConstMatrix b);

/// Token first[i] of one text corresponds to second[i] of the other; both rise.
struct TokenAlignment {
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
  std::vector<bool> is_same;  // whether the two are the same token
  bool by_position = true;    // texts of equal length: tokens correspond by position

  std::size_t size() const noexcept { return first.size(); }
};

/// Aligns texts of equal length token by token, even where tokens differ, and others by a longest
/// common subsequence (always the same one of several). Tokens are the same if their texts are.
/// Throws Error{kUsage} if fewer than two tokens correspond or the texts are too long to align.
TokenAlignment align_tokens(const TokenizedText& first, const TokenizedText& second);

/// ‖a − b‖ / ‖a‖ of corresponding numbers, in double precision; absent if only a is 0.
std::optional<double> relative_error(std::span<const float> a, std::span<const float> b);

/// ‖A − B‖_F / ‖A‖_F of one tensor.
struct TensorDifference {
  std::optional<std::size_t> layer;    // absent: a tensor of the whole model
  std::string name;                    // "W_Q": of all heads together
  std::optional<double> relative;      // absent if shapes differ, or A is 0 and B is not
  std::optional<std::size_t> only_in;  // 0: only A has this tensor; 1: only B
};

/// Compares every tensor that at least one of the models has: embeddings, projections, biases,
/// norms, and the unembedding unless it is tied to the embeddings. Stored numbers are compared as
/// the floats they stand for, and norms' weights as the factors they multiply by. Queries and keys
/// ordered for another pairing of rotary positions are first brought into one order. Results are in
/// the order of a run. Precondition: as many heads in each layer.
std::vector<TensorDifference> compare_tensors(const Model& a, const Model& b,
                                              std::size_t n_threads);

}  // namespace attnviz
