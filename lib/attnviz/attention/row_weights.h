// From one query's raw scores to its attention weights: positions, mask, softmax, dropout.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/attention/dropout.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/mask.h"

namespace attnviz {

/// Keys [first, end).
struct KeyRange {
  std::size_t first = 0;
  std::size_t end = 0;

  std::size_t size() const noexcept { return end - first; }
};

/// How one head turns scores into weights.
struct RowRule {
  HeadId head;
  Mask mask;
  float distance_penalty = 0.0f;  // score per token of distance: ALiBi's slope over the temperature
  Dropout dropout;
};

/// A range with every key that one of the queries [first_query, end_query) sees; the smallest one
/// unless the mask has gaps. Precondition: first_query < end_query <= n_keys.
KeyRange visible_range(const Mask& mask, std::size_t first_query, std::size_t end_query,
                       std::size_t n_keys) noexcept;

/// In place: the scaled scores of `query` on the keys of `range` become its weights; keys it does
/// not see get exactly 0. Returns false when a score between its first and its last visible key is
/// not finite. `range` covers what the query sees of n_keys; row.size() == range.size().
bool scores_to_weights(const RowRule& rule, std::size_t query, std::size_t n_keys, KeyRange range,
                       std::span<float> row) noexcept;

}  // namespace attnviz
