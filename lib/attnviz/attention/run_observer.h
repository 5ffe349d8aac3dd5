// Code that observes, or changes, a run between its steps; and several sinks or observers as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Edges from the queries [first_query, end_query) to the keys [first_key, end_key): all that the
/// mask may let through.
class EdgeBlock {
 public:
  /// `hidden` [n_queries * n_keys], all 0, must outlive the block.
  EdgeBlock(std::size_t first_query, std::size_t n_queries, std::size_t first_key,
            std::size_t n_keys, std::span<std::uint8_t> hidden) noexcept
      : first_query_(first_query),
        n_queries_(n_queries),
        first_key_(first_key),
        n_keys_(n_keys),
        hidden_(hidden) {}

  std::size_t first_query() const noexcept { return first_query_; }
  std::size_t end_query() const noexcept { return first_query_ + n_queries_; }
  std::size_t first_key() const noexcept { return first_key_; }
  std::size_t end_key() const noexcept { return first_key_ + n_keys_; }

  /// Whether the block contains the edge.
  bool has(std::size_t query, std::size_t key) const noexcept {
    return query >= first_query() && query < end_query() && key >= first_key() && key < end_key();
  }
  /// Hides an edge as the mask would. Edges outside the block are ignored.
  void hide(std::size_t query, std::size_t key) noexcept {
    if (has(query, key)) {
      hidden_[place(query, key)] = 1;
    }
  }
  /// Precondition: has(query, key).
  bool is_hidden(std::size_t query, std::size_t key) const noexcept {
    return hidden_[place(query, key)] != 0;
  }

 private:
  std::size_t place(std::size_t query, std::size_t key) const noexcept {
    return (query - first_query_) * n_keys_ + key - first_key_;
  }

  std::size_t first_query_, n_queries_, first_key_, n_keys_;
  std::span<std::uint8_t> hidden_;
};

/// Where an observer may step in, in the order of a layer. The table gives the streams by
/// LayerOrder, with x for kBefore, a for kAttention, y for kMlp, and n, n' for the norms that some
/// layers apply after these (Gemma 2; else n(a) = a):
///
///                  kMiddle           kAfter             input of the MLP
///   kPreNorm       x + n(a)          kMiddle + n'(y)    norm(kMiddle)
///   kParallel      x + n(a)          kMiddle + n'(y)    norm(x)
///   kPostNorm      norm(x + n(a))    norm(kMiddle + n'(y))   kMiddle
///   kAttentionOnly x + a             the same           no MLP: kMlp is never asked for
///
/// Where the model has no residual connection, x is left out of kMiddle; without W_O, kMiddle is a.
/// In models with several streams (AltUp), x is the active stream as the layer predicts it and
/// kAfter the corrected one, or after the last layer the one that all streams are combined into;
/// with LAuReL, kMiddle is the sum that join_stream() makes. In decoders that attend to another
/// text, kMiddle comes after cross-attention: x + a + cross(norm(x + a)), normed again in
/// kPostNorm.
enum class LayerStep {
  kBefore,     // stream(): the incoming residual stream, [n, d_model]
  kDecay,      // decay(): share that states keep, log α [n, n_heads]; only layers with states
  kGates,      // gates(): the contexts' output gates, [n, sum of d_value]; only layers with gates
  kContexts,   // contexts(): weights · V of all heads side by side, gated, [n, sum of d_value]
  kStates,     // states(): output of states beside heads, [n, d_model]; only layers with both
  kAttention,  // attention(): contexts · W_O + b_O, [n, d_model], plus the output of these states;
               // without W_O, the contexts
  kMiddle,     // stream(): the residual stream between attention and MLP
  kRouter,     // router(): which experts each token gets; only layers with experts
  kMlp,        // mlp(): output of the MLP and the experts, [n, d_model]
  kAfter,      // stream(): the outgoing residual stream
};

/// Where a run is. Rows are the tokens from `first_token` on: all tokens of a text, or the new ones
/// of a text that grows.
struct RunPlace {
  std::size_t layer = 0;
  LayerStep step = LayerStep::kBefore;
  std::size_t first_token = 0;
};

/// The values that a head's weights mix: x̂ W_V + b_V of all tokens so far, [n_tokens, d_value]; x̂
/// is the input of the layer's attention.
struct HeadValues {
  std::size_t head = 0;
  ConstMatrix values;
};

/// Base class that observes nothing. Steps that are not asked for cost nothing and do not change
/// the bits; a run goes only as far as the observer or its `patterns` need.
///
/// All but hides() and hide() are called by the running thread, in the order of the run. Matrices
/// are valid during the call. A value passed as Matrix may be changed, and the run continues with
/// the changed numbers.
class RunObserver {
 public:
  RunObserver() noexcept = default;
  /// Weights go to `patterns`, which must outlive the observer.
  explicit RunObserver(PatternSink& patterns) noexcept : patterns_(&patterns) {}
  /// The weights of cross-attention go to `cross`, too.
  RunObserver(PatternSink& patterns, PatternSink& cross) noexcept
      : patterns_(&patterns), cross_patterns_(&cross) {}
  virtual ~RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  /// Where weights go; null: they are not wanted.
  PatternSink* patterns() const noexcept { return patterns_; }
  /// Where the weights of cross-attention go, [query, key] with the keys of the other text; null:
  /// they are not wanted. They come in any order of heads and queries.
  PatternSink* cross_patterns() const noexcept { return cross_patterns_; }

  /// Whether the run calls the observer at a step. Observing kMlp may change the last bit of the
  /// layer's output: the output of the MLP is rounded once more.
  virtual bool wants(std::size_t /*layer*/, LayerStep /*step*/) const { return false; }
  virtual void stream(const RunPlace& /*at*/, ConstMatrix /*x*/) {}
  virtual void decay(const RunPlace& /*at*/, ConstMatrix /*log_alpha*/) {}
  virtual void gates(const RunPlace& /*at*/, ConstMatrix /*open*/) {}
  virtual void contexts(const RunPlace& /*at*/, Matrix /*z*/) {}
  virtual void states(const RunPlace& /*at*/, ConstMatrix /*s*/) {}
  virtual void attention(const RunPlace& /*at*/, Matrix /*a*/) {}
  virtual void router(const RunPlace& /*at*/, const RoutedTokens& /*routed*/) {}
  virtual void mlp(const RunPlace& /*at*/, Matrix /*y*/) {}

  /// Whether values() receives the values of a head: some heads of a layer at a time, before their
  /// weights. A run does not go further for them. May be called several times.
  virtual bool wants_values(HeadId /*head*/) const { return false; }
  virtual void values(std::size_t /*layer*/, std::span<const HeadValues> /*heads*/) {}

  /// Whether some edges of a head are hidden: the same answer throughout a run. Called from several
  /// threads at the same time.
  virtual bool hides(HeadId /*head*/) const { return false; }
  /// Hides edges as a mask would: their weight is 0, and a query that sees no other key gets a row
  /// of zeros. Blocks cover each query once; calls come from several threads at the same time.
  virtual void hide(HeadId /*head*/, EdgeBlock& /*edges*/) const {}

 protected:
  PatternSink* patterns_ = nullptr;
  PatternSink* cross_patterns_ = nullptr;
};

/// Passes rows to every sink of the group that wants them; ordered when one of them is.
class SinkGroup : public PatternSink {
 public:
  /// The sinks must outlive the group.
  explicit SinkGroup(std::vector<PatternSink*> sinks) : sinks_(std::move(sinks)) {}

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;
  Matrix place(HeadId head, std::size_t first_query, std::size_t n_queries) override;
  bool ordered() const override;
  OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                           ConstMatrix weights) override;

 private:
  std::vector<PatternSink*> sinks_;
};

/// Several observers as one; they make their changes in the given order.
class ObserverGroup : public RunObserver {
 public:
  /// The observers must outlive the group.
  explicit ObserverGroup(std::vector<RunObserver*> observers);

  bool wants(std::size_t layer, LayerStep step) const override;
  void stream(const RunPlace& at, ConstMatrix x) override { notify(&RunObserver::stream, at, x); }
  void decay(const RunPlace& at, ConstMatrix log_alpha) override {
    notify(&RunObserver::decay, at, log_alpha);
  }
  void gates(const RunPlace& at, ConstMatrix open) override {
    notify(&RunObserver::gates, at, open);
  }
  void contexts(const RunPlace& at, Matrix z) override { notify(&RunObserver::contexts, at, z); }
  void states(const RunPlace& at, ConstMatrix s) override { notify(&RunObserver::states, at, s); }
  void attention(const RunPlace& at, Matrix a) override { notify(&RunObserver::attention, at, a); }
  void router(const RunPlace& at, const RoutedTokens& routed) override {
    notify<const RoutedTokens&>(&RunObserver::router, at, routed);
  }
  void mlp(const RunPlace& at, Matrix y) override { notify(&RunObserver::mlp, at, y); }
  bool wants_values(HeadId head) const override;
  void values(std::size_t layer, std::span<const HeadValues> heads) override;
  bool hides(HeadId head) const override;
  void hide(HeadId head, EdgeBlock& edges) const override;

 private:
  // Calls the observers that want the step.
  template <class Values>
  void notify(void (RunObserver::*step)(const RunPlace&, Values), const RunPlace& at,
              Values values) {
    for (RunObserver* observer : observers_) {
      if (observer->wants(at.layer, at.step)) {
        (observer->*step)(at, values);
      }
    }
  }

  std::vector<RunObserver*> observers_;
  SinkGroup sinks_, cross_sinks_;
};

/// Keeps rows of the last layer's output, the input of run_output_head().
class OutputRows : public RunObserver {
 public:
  /// Keeps the rows of the tokens [first, first + count).
  OutputRows(const Model& model, std::size_t first, std::size_t count) noexcept
      : last_layer_(model.n_layers() - 1), first_(first), count_(count) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    return layer == last_layer_ && step == LayerStep::kAfter;
  }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// [count, d_model], or for a last layer without W_O the contexts side by side.
  ConstMatrix rows() const noexcept { return rows_.view(); }
  MatrixBuffer take() noexcept { return std::move(rows_); }

 private:
  std::size_t last_layer_, first_, count_;
  MatrixBuffer rows_;
};

}  // namespace attnviz
