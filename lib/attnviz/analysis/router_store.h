// Which experts the tokens of a text get.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

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
