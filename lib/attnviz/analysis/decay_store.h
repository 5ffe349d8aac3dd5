// How fast the states of a text's layers forget.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

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

}  // namespace attnviz
