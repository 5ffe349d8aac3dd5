#include "attnviz/analysis/decay_store.h"

#include <cmath>

namespace attnviz {

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

}  // namespace attnviz
