// What queries give to no key, of heads with a learned sink. How fast the states of a text's layers
// forget. Which experts the tokens of a text get.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether a layer has learned sinks.
bool has_sinks(const Model& model) noexcept;

/// Keeps it for the heads of a run that have one; its rows go nowhere.
class SinkStore : public PatternSink {
 public:
  SinkStore(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens);

  bool wants(HeadId head) const override { return weights_.contains(head); }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix /*weights*/) override {}
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;

  /// The mean over `heads` [n_tokens]; of one without a sink it is 0. Empty when no head has one.
  std::vector<float> mean(std::span<const HeadId> heads) const;

 private:
  std::size_t n_tokens_;
  std::map<HeadId, std::vector<float>> weights_;
};

/// The mean over the tokens of each unit, [n_units]; `units` [n_tokens] numbers them from 0.
std::vector<float> folded_sink(std::span<const float> sink, std::span<const std::size_t> units);

/// The states of a model, as heads of their layers: by layer, then head.
std::vector<HeadId> state_heads(const Model& model);

/// Keeps the decay of the states of some layers, for one run over a text.
class DecayStore : public RunObserver {
 public:
  /// Of the layers of `heads`.
  explicit DecayStore(const std::vector<HeadId>& heads);

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kDecay && layers_.contains(layer);
  }
  void decay(const RunPlace& at, ConstMatrix log_alpha) override;

  /// How much of what the state of `head` took in at token j is there after token i: Π α_t for t
  /// from j + 1 to i, but for what is written over it; 0 where j > i. pattern [n_tokens, n_tokens],
  /// as [i, j]. Precondition: the run has come through its layer.
  void fill(HeadId head, Matrix pattern) const;

 private:
  struct Sums {
    std::size_t n_heads = 0;
    std::vector<double> logs;  // [n_tokens, n_heads]: Σ log α up to the token
  };

  std::set<std::size_t> layers_;
  std::map<std::size_t, Sums> sums_;  // by layer
};

/// What one layer's router chose.
struct RoutedLayer {
  std::size_t layer = 0;
  RoutedTokens tokens;
};

/// The layers of a model that have experts.
std::vector<std::size_t> expert_layers(const Model& model);

/// Keeps what the routers of some layers choose, for one run over a text or for a text that grows.
class RouterStore : public RunObserver {
 public:
  explicit RouterStore(const std::vector<std::size_t>& layers)
      : layers_(layers.begin(), layers.end()) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kRouter && layers_.contains(layer);
  }
  void router(const RunPlace& at, const RoutedTokens& routed) override;

  /// By layer.
  std::vector<RoutedLayer> take();

 private:
  std::set<std::size_t> layers_;
  std::vector<RoutedLayer> routed_;  // by layer
};

}  // namespace attnviz
