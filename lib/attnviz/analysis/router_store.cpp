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
  auto known = std::ranges::find(routed_, at.layer, &RoutedLayer::layer);
  if (known == routed_.end()) {
    routed_.push_back({at.layer, {}});
    known = routed_.end() - 1;
  }
  RoutedTokens& all = known->tokens;
  all.n_experts = routed.n_experts;
  all.n_used = routed.n_used;
  all.experts.resize(at.first_token * routed.n_used);  // others may have been fed there before
  all.factors.resize(all.experts.size());
  all.experts.insert(all.experts.end(), routed.experts.begin(), routed.experts.end());
  all.factors.insert(all.factors.end(), routed.factors.begin(), routed.factors.end());
}

std::vector<RoutedLayer> RouterStore::take() {
  std::ranges::sort(routed_, {}, &RoutedLayer::layer);
  return std::exchange(routed_, {});
}

}  // namespace attnviz
