#include "attnviz/analysis/sink_store.h"

#include <algorithm>

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

}  // namespace attnviz
