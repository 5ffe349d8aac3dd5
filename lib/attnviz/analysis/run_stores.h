// Weights that queries give to learned sinks instead of keys. How fast the states of a text's
// layers forget. Which experts the tokens of a text are routed to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether any layer has learned sinks.
bool has_sinks(const Model& model) noexcept;

/// Keeps the sink weights of those heads of a run that have a learned sink; ignores rows.
class SinkStore : public PatternSink {
 public:
  SinkStore(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens);

  bool wants(HeadId head) const override { return weights_.contains(head); }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix /*weights*/) override {}
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;

  /// The average over `heads` [n_tokens]; a head without a sink counts as 0. Empty if no head has
  /// one.
  std::vector<float> mean(std::span<const HeadId> heads) const;

 private:
  std::size_t n_tokens_;
  std::map<HeadId, std::vector<float>> weights_;
};

/// The average over the tokens of each unit, [n_units]; `units` [n_tokens] numbers them from 0.
std::vector<float> folded_sink(std::span<const float> sink, std::span<const std::size_t> units);

/// The states of a model, numbered like heads of their layers: by layer, then head.
std::vector<HeadId> state_heads(const Model& model);

/// Keeps the decay of the states of some layers, for one run over a text.
class DecayStore : public RunObserver {
 public:
  /// For the layers of `heads`.
  explicit DecayStore(const std::vector<HeadId>& heads);

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kDecay && layers_.contains(layer);
  }
  void decay(const RunPlace& at, ConstMatrix log_alpha) override;

  /// Fills pattern [n_tokens, n_tokens]: [i, j] is how much of the input at token j the state of
  /// `head` still holds after token i, Π α_t for t from j + 1 to i, ignoring what is overwritten; 0
  /// where j > i. Precondition: the run has passed the head's layer.
  void fill(HeadId head, Matrix pattern) const;

 private:
  struct Sums {
    std::size_t n_heads = 0;
    std::vector<double> logs;  // [n_tokens, n_heads]: Σ log α up to the token
  };

  std::set<std::size_t> layers_;
  std::map<std::size_t, Sums> sums_;  // by layer
};

/// The choices of one layer's router.
struct RoutedLayer {
  std::size_t layer = 0;
  RoutedTokens tokens;
};

/// The layers of a model that have experts.
std::vector<std::size_t> expert_layers(const Model& model);

/// Keeps the choices of some layers' routers, for one run over a text or for a growing text.
class RouterStore : public RunObserver {
 public:
  explicit RouterStore(const std::vector<std::size_t>& layers)
      : layers_(layers.begin(), layers.end()) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kRouter && layers_.contains(layer);
  }
  void router(const RunPlace& at, const RoutedTokens& routed) override;

  /// Returns them by layer.
  std::vector<RoutedLayer> take();

 private:
  std::set<std::size_t> layers_;
  std::vector<RoutedLayer> routed_;  // by layer
};

// Attention without its sink, the first token, on which many heads rest when nothing else fits.
// Patterns between chosen tokens of a text, and patterns over words. Both are computed while the
// patterns over all tokens arrive.

/// Adds up in double precision, from first to last.
double sum_of(std::span<const float> weights) noexcept;

/// `weight` as a share of `sum`; 0 if the sum is 0.
inline float scaled_by(double sum, float weight) noexcept {
  return sum == 0.0 ? 0.0f : static_cast<float>(static_cast<double>(weight) / sum);
}

/// Divides weights by their sum; if all are 0, they stay 0.
void scale_to_one(std::span<float> weights) noexcept;

/// `weights` [n_queries, n_keys] without its first column, [n_queries, n_keys - 1], each row
/// divided by its remaining sum, so that rows that summed to 1 do so again. A row with weight on
/// the first column alone becomes 0, and one with a NaN becomes all NaN. Precondition: n_keys >= 2.
///
/// Source  attention sinks: Xiao et al. 2024, "Efficient streaming language models with attention
///         sinks".
MatrixBuffer without_first_key(ConstMatrix weights);

/// Passes the rows and columns of chosen tokens, [n_chosen, n_chosen], to another sink; the rest of
/// each row is scaled to sum to 1, unless it is 0.
class RestrictSink : public PatternSink {
 public:
  /// `tokens` rise and are below `n_tokens`; `target` must outlive the sink.
  RestrictSink(PatternSink& target, std::span<const std::size_t> tokens, std::size_t n_tokens);

  bool wants(HeadId head) const override { return target_.wants(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

 private:
  PatternSink& target_;
  std::vector<std::size_t> tokens_;
  std::vector<std::size_t> place_of_;  // index of each token among the chosen ones, or none
};

/// Passes word patterns [n_words, n_words], or [n_words, n_key_words] for two texts, to another
/// sink. The weight that a word puts on another is summed over the other's keys and averaged over
/// the word's queries. Rows that sum to 1 still do (Clark et al. 2019, section 4).
///
/// The sums are in fixed point. Each word is passed on once, from any thread, in rows of its own.
class MergeSink : public PatternSink {
 public:
  /// `words`: the word of each token, numbered from 0 in order and without gaps, as word_numbers()
  /// returns them. `target` must outlive the sink; no row of weights sums to more than
  /// `largest_sum`, and none is below 0.
  MergeSink(PatternSink& target, std::span<const std::size_t> words, float largest_sum)
      : MergeSink(target, words, words, largest_sum) {}
  /// For queries and keys of two texts.
  MergeSink(PatternSink& target, std::span<const std::size_t> words,
            std::span<const std::size_t> key_words, float largest_sum);

  bool wants(HeadId head) const override { return target_.wants(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

 private:
  using Sums = std::vector<std::int64_t>;  // [n_key_words]

  // A word whose queries span several blocks.
  struct Unfinished {
    Sums sums;
    std::size_t n_queries = 0;
  };

  void add_row(std::span<const float> weights, std::size_t first_key, Sums& sums) const noexcept;
  void hand_over(HeadId head, std::size_t word, const Sums& sums);
  void keep(HeadId head, std::size_t word, std::size_t n_queries, const Sums& sums);

  PatternSink& target_;
  std::vector<std::size_t> word_of_;      // [n_tokens]
  std::vector<std::size_t> key_word_of_;  // [n_keys]
  std::vector<std::size_t> n_tokens_of_;  // [n_words]
  std::size_t n_key_words_;
  FixedPoint sum_;
  std::mutex mutex_;
  std::map<std::pair<HeadId, std::size_t>, Unfinished> unfinished_;
};

}  // namespace attnviz
