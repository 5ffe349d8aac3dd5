#include "attnviz/attention/row_weights.h"

#include <algorithm>
#include <limits>

#include "attnviz/kernels/attention_kernels.h"

namespace attnviz {

namespace {

// Keys before and after the query are penalised alike, so that a bidirectional model can use it.
void penalise_distance(float penalty, std::size_t query, std::size_t first_key,
                       std::span<float> scores) noexcept {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::size_t key = first_key + i;
    const std::size_t distance = key < query ? query - key : key - query;
    scores[i] -= penalty * static_cast<float>(distance);
  }
}

void hide_gaps(const Mask& mask, std::size_t query, std::size_t first_key,
               std::span<float> scores) noexcept {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!mask.visible(query, first_key + i)) {
      scores[i] = -std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace

KeyRange visible_range(const Mask& mask, std::size_t first_query, std::size_t end_query,
                       std::size_t n_keys) noexcept {
  KeyRange range{mask.first_key(first_query), mask.end_key(first_query, n_keys)};
  for (std::size_t query = first_query + 1; query < end_query; ++query) {
    range.first = std::min(range.first, mask.first_key(query));
    range.end = std::max(range.end, mask.end_key(query, n_keys));
  }
  return range;
}

bool scores_to_weights(const RowRule& rule, std::size_t query, std::size_t n_keys, KeyRange range,
                       std::span<float> row) noexcept {
  const KeyRange seen = visible_range(rule.mask, query, query + 1, n_keys);
  const std::span<float> before = row.first(seen.first - range.first);
  const std::span<float> visible = row.subspan(before.size(), seen.size());
  const std::span<float> after = row.subspan(before.size() + visible.size());
  std::fill(before.begin(), before.end(), 0.0f);
  std::fill(after.begin(), after.end(), 0.0f);

  if (!kernels::all_finite(visible)) {
    return false;
  }
  if (rule.distance_penalty != 0.0f) {
    penalise_distance(rule.distance_penalty, query, seen.first, visible);
  }
  if (rule.mask.has_gaps()) {
    hide_gaps(rule.mask, query, seen.first, visible);
  }
  if (!kernels::softmax(visible.data(), visible.size())) {
    return false;
  }
  if (rule.dropout.rate > 0.0f) {
    rule.dropout.apply(rule.head, query, seen.first, visible);
  }
  return true;
}

}  // namespace attnviz
