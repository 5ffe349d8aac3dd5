#include "attnviz/analysis/router_store.h"

#include <algorithm>
#include <utility>

namespace attnviz {

std::vector<std::size_t> expert_layers(const Model& model) {
  std::vector<std::size_t> layers;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (model.layers[layer].experts.present()) {
      layers.push_back(layer);
    }
  }
  return layers;
}

void RouterStore::router(const RunPlace& at, const RoutedTokens& routed) {
  auto place = std::ranges::lower_bound(routed_, at.layer, {}, &RoutedLayer::layer);
  if (place == routed_.end() || place->layer != at.layer) {
    place = routed_.insert(place, {at.layer, {}});
  }
  RoutedTokens& all = place->tokens;
  all.n_experts = routed.n_experts;
  all.n_used = routed.n_used;
  all.experts.resize(at.first_token * routed.n_used);  // others may have been fed there before
  all.factors.resize(all.experts.size());
  all.experts.insert(all.experts.end(), routed.experts.begin(), routed.experts.end());
  all.factors.insert(all.factors.end(), routed.factors.begin(), routed.factors.end());
}

std::vector<RoutedLayer> RouterStore::take() {
  return std::exchange(routed_, {});
}

}  // namespace attnviz
