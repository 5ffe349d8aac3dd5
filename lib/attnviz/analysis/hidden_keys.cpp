#include "attnviz/analysis/hidden_keys.h"

#include <limits>

#include "attnviz/attention/run_observer.h"

namespace attnviz {

std::vector<std::uint8_t> hidden_from(const RowRule& rule, std::size_t query, std::size_t n_keys) {
  std::vector<std::uint8_t> hidden(rule.observer == nullptr ? 0 : n_keys);
  if (rule.observer != nullptr) {
    EdgeBlock edges(query, 1, 0, n_keys, hidden);
    rule.observer->hide(rule.head, edges);
  }
  return hidden;
}

void hide_masked(const RowRule& rule, std::size_t query, std::span<float> scores) {
  const std::vector<std::uint8_t> hidden = hidden_from(rule, query, scores.size());
  for (std::size_t key = 0; key < scores.size(); ++key) {
    const std::size_t distance = key < query ? query - key : key - query;
    if (!rule.mask.visible(query, key) || (!hidden.empty() && hidden[key] != 0)) {
      scores[key] = -std::numeric_limits<float>::infinity();
    } else if (rule.distance_penalty != 0.0f) {
      scores[key] -= rule.distance_penalty * static_cast<float>(distance);
    }
  }
}

}  // namespace attnviz
