#include "attnviz/analysis/most_probable.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnviz {

std::vector<ProbableToken> most_probable(std::span<const float> logits, std::size_t count) {
  std::vector<std::uint32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), std::uint32_t{0});
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(
                                        std::min(std::max<std::size_t>(count, 1), ids.size()));
  std::partial_sort(ids.begin(), middle, ids.end(), [logits](std::uint32_t a, std::uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  const auto largest = static_cast<double>(logits[ids.front()]);
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  std::vector<ProbableToken> tokens;
  tokens.reserve(std::min(count, ids.size()));
  ids.resize(std::min(count, ids.size()));
  for (const std::uint32_t id : ids) {
    const float logit = logits[id];
    tokens.push_back({id, std::exp(static_cast<double>(logit) - largest) / sum, logit});
  }
  return tokens;
}

double log_probability(std::span<const float> logits, std::uint32_t id) {
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  return static_cast<double>(logits[id]) - largest - std::log(sum);
}

std::size_t rank_of(std::span<const float> logits, std::uint32_t id) noexcept {
  const float own = logits[id];
  std::size_t rank = 0;
  for (std::size_t other = 0; other < logits.size(); ++other) {
    rank += logits[other] > own || (logits[other] == own && other < id) ? 1u : 0u;
  }
  return rank;
}

}  // namespace attnviz
