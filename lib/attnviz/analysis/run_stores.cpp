#include "attnviz/analysis/run_stores.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnviz {

bool has_sinks(const Model& model) noexcept {
  return std::ranges::any_of(model.layers,
                             [](const LayerWeights& layer) { return !layer.sinks.empty(); });
}

SinkStore::SinkStore(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens)
    : n_tokens_(n_tokens) {
  for (const HeadId head : heads) {
    if (!model.layers[head.layer].sinks.empty()) {
      weights_.emplace(head, std::vector<float>(n_tokens));
    }
  }
}

void SinkStore::sinks(HeadId head, std::size_t first_query, std::span<const float> weights) {
  const auto known = weights_.find(head);
  if (known != weights_.end()) {
    std::ranges::copy(weights, known->second.begin() + static_cast<std::ptrdiff_t>(first_query));
  }
}

std::vector<float> SinkStore::mean(std::span<const HeadId> heads) const {
  std::vector<double> sums;
  for (const HeadId head : heads) {
    if (const auto known = weights_.find(head); known != weights_.end()) {
      sums.resize(n_tokens_);
      for (std::size_t i = 0; i < n_tokens_; ++i) {
        sums[i] += static_cast<double>(known->second[i]);
      }
    }
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (const double sum : sums) {
    means.push_back(static_cast<float>(sum / static_cast<double>(heads.size())));
  }
  return means;
}

std::vector<float> folded_sink(std::span<const float> sink, std::span<const std::size_t> units) {
  std::vector<double> sums;
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    sums.resize(std::max(sums.size(), units[i] + 1));
    counts.resize(sums.size());
    sums[units[i]] += static_cast<double>(sink[i]);
    ++counts[units[i]];
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    means.push_back(static_cast<float>(sums[i] / static_cast<double>(counts[i])));
  }
  return means;
}

std::vector<HeadId> state_heads(const Model& model) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const Recurrence& states = model.layers[layer].recurrence;
    for (std::size_t head = 0; states.present() && head < states.n_heads; ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

DecayStore::DecayStore(const std::vector<HeadId>& heads) {
  for (const HeadId head : heads) {
    layers_.insert(head.layer);
  }
}

void DecayStore::decay(const RunPlace& at, ConstMatrix log_alpha) {
  Sums& sums = sums_[at.layer];
  const std::size_t n_heads = sums.n_heads = log_alpha.cols;
  sums.logs.resize(at.first_token * n_heads);  // others may have been fed there before
  for (std::size_t row = 0; row < log_alpha.rows; ++row) {
    for (std::size_t head = 0; head < n_heads; ++head) {
      const std::size_t place = sums.logs.size();
      const double before = place < n_heads ? 0.0 : sums.logs[place - n_heads];
      sums.logs.push_back(before + static_cast<double>(log_alpha(row, head)));
    }
  }
}

void DecayStore::fill(HeadId head, Matrix pattern) const {
  const Sums& sums = sums_.at(head.layer);
  const auto log_at = [&](std::size_t token) {
    return sums.logs[token * sums.n_heads + head.head];
  };
  for (std::size_t now = 0; now < pattern.rows; ++now) {
    for (std::size_t then = 0; then < pattern.cols; ++then) {
      pattern(now, then) =
          then > now ? 0.0f : static_cast<float>(std::exp(log_at(now) - log_at(then)));
    }
  }
}

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
