#include "attnviz/analysis/restrict_sink.h"

#include <limits>

namespace attnviz {

namespace {

constexpr std::size_t kNotChosen = std::numeric_limits<std::size_t>::max();

}  // namespace

RestrictSink::RestrictSink(PatternSink& target, std::span<const std::size_t> tokens,
                           std::size_t n_tokens)
    : target_(target), tokens_(tokens.begin(), tokens.end()), place_of_(n_tokens, kNotChosen) {
  for (std::size_t place = 0; place < tokens_.size(); ++place) {
    place_of_[tokens_[place]] = place;
  }
}

void RestrictSink::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                        ConstMatrix weights) {
  std::vector<float> kept(tokens_.size());
  for (std::size_t row = 0; row < weights.rows; ++row) {
    const std::size_t place = place_of_[first_query + row];
    if (place == kNotChosen) {
      continue;
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::size_t key = tokens_[i] - first_key;  // wraps around before the first
      kept[i] = tokens_[i] >= first_key && key < weights.cols ? weights(row, key) : 0.0f;
      sum += static_cast<double>(kept[i]);
    }
    for (float& weight : kept) {
      weight = sum > 0.0 ? static_cast<float>(static_cast<double>(weight) / sum) : 0.0f;
    }
    target_.rows(head, place, 0, {kept.data(), 1, kept.size(), kept.size()});
  }
}

}  // namespace attnviz
