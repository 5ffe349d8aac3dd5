#include "attnviz/document/shown_keys.h"

#include <algorithm>
#include <utility>

namespace attnviz {

ShownKeys shown_keys(const Inspection& head, bool all) {
  constexpr std::size_t kFewTokens = 16;
  constexpr std::size_t kMostKeys = 24;
  ShownKeys shown;
  std::vector<std::size_t> visible;
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    if (head.is_visible(key)) {
      visible.push_back(key);
    } else if (all || head.n_tokens() <= kFewTokens) {
      shown.keys.push_back(key);
    } else {
      ++(key < head.query ? shown.masked_before : shown.masked_after);
    }
  }
  if (!all && visible.size() > kMostKeys) {
    const auto distance = [&](std::size_t key) {
      return key < head.query ? head.query - key : key - head.query;
    };
    const auto goes_before = [&](std::size_t a, std::size_t b) {
      if (a == head.query || b == head.query) {
        return a == head.query && b != head.query;
      }
      return head.weights[a] != head.weights[b]
                 ? head.weights[a] > head.weights[b]
                 : std::pair(distance(a), a) < std::pair(distance(b), b);
    };
    std::sort(visible.begin(), visible.end(), goes_before);
    double weight = 0.0;
    for (std::size_t i = kMostKeys; i < visible.size(); ++i) {
      weight += static_cast<double>(head.weights[visible[i]]);
    }
    shown.left_out = visible.size() - kMostKeys;
    shown.left_out_weight = static_cast<float>(weight);
    visible.resize(kMostKeys);
  }
  shown.keys.insert(shown.keys.end(), visible.begin(), visible.end());
  std::sort(shown.keys.begin(), shown.keys.end());
  return shown;
}

}  // namespace attnviz
