#include "attnviz/attention/attention_block.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "attnviz/kernels/attention_kernels.h"
#include "attnviz/kernels/copy.h"
#include "attnviz/kernels/softmax.h"

namespace attnviz {

namespace {

Matrix scratch_rows(BlockScratch& scratch, std::size_t rows, std::size_t cols) {
  // A panel more than the columns need: rows whose distance is a large power of two would share
  // the same few places in the cache.
  const std::size_t stride = cols + kernels::KeyPanels::kKeys;
  const std::size_t floats = rows * stride;
  if (scratch.scores.cols() < floats) {
    scratch.scores = MatrixBuffer(1, floats);
  }
  return {scratch.scores.view().data, rows, cols, stride};
}

// Each query's, and all of them together.
KeyRange find_ranges(const Mask& mask, std::size_t first_query, std::size_t n_queries,
                     std::size_t n_keys, std::vector<KeyRange>& ranges) {
  ranges.resize(n_queries);
  if (mask.kind == MaskKind::kCausal) {
    // Loops of their own: with few keys asking the mask would show, and a bound, too.
    for (std::size_t i = 0; i < n_queries; ++i) {
      ranges[i] = {0, first_query + i + 1};
    }
    for (std::size_t i = n_queries; i > 0 && ranges[i - 1].end > n_keys; --i) {
      ranges[i - 1].end = n_keys;
    }
    return {0, n_queries == 0 ? 0 : ranges[n_queries - 1].end};
  }
  KeyRange seen{n_keys, 0};
  for (std::size_t i = 0; i < n_queries; ++i) {
    const std::size_t query = first_query + i;
    ranges[i] = {mask.first_key(query), mask.end_key(query, n_keys)};
    seen = {std::min(seen.first, ranges[i].first), std::max(seen.end, ranges[i].end)};
  }
  return seen;
}

}  // namespace

std::size_t attending_rows(std::size_t n_keys) noexcept {
  constexpr std::size_t kMostRows = 96;
  constexpr std::size_t kFewestRows = 24;
  constexpr std::size_t kScores = std::size_t{160} << 10;
  const std::size_t rows = kScores / std::max<std::size_t>(n_keys, 1) / 12 * 12;
  return std::clamp(rows, kFewestRows, kMostRows);
}

BlockWeights attend_block(const HeadTensors& tensors, const RowRule& rule, std::size_t first_query,
                          std::size_t n_queries, BlockScratch& scratch, Matrix context,
                          Matrix pattern) {
  constexpr std::size_t kPanel = kernels::KeyPanels::kKeys;
  // Whole panels of the keys that one of the queries sees.
  const KeyRange seen =
      find_ranges(rule.mask, first_query, n_queries, tensors.keys->n_keys(), scratch.ranges);
  const std::size_t first_key = seen.first / kPanel * kPanel;
  const std::size_t cols = kernels::KeyPanels::rounded_up(seen.end - first_key);
  const Matrix rows = scratch_rows(scratch, n_queries, cols);
  const ConstMatrix queries = tensors.query.row_block(first_query - tensors.first_token, n_queries);
  kernels::attention_scores(queries, *tensors.keys, scratch.ranges, first_key, rows);
  BlockWeights block{BlockFault::kNone, first_key, rows.col_block(0, seen.end - first_key)};
  block.stored = !pattern.empty() && can_copy(rule, scratch.ranges, first_key);
  const Matrix copy = block.stored ? pattern.col_block(first_key, cols) : Matrix{};
  std::optional<EdgeBlock> edges;
  if (rule.observer != nullptr) {
    scratch.hidden.assign(n_queries * block.weights.cols, 0);
    edges.emplace(first_query, n_queries, first_key, block.weights.cols, scratch.hidden);
    rule.observer->hide(rule.head, *edges);
  }
  if (rule.sink > -std::numeric_limits<float>::infinity()) {
    scratch.sinks.assign(n_queries, 0.0f);
    block.sinks = scratch.sinks;
  } else {
    scratch.sinks.clear();
  }
  const bool is_fine =
      scores_to_weights(rule, first_query, scratch.ranges, first_key, rows,
                        edges ? &*edges : nullptr, copy, scratch.sinks) == n_queries;
  if (is_fine && !context.empty()) {
    kernels::mix_values(rows, tensors.value, scratch.ranges, first_key, context);
  }
  if (block.stored) {
    kernels::flush_streams();  // after the mixing, during which most of them arrive
  }
  if (!is_fine) {
    block.fault = BlockFault::kScore;
  } else if (!kernels::all_finite(context)) {
    block.fault = BlockFault::kContext;
  }
  return block;
}

}  // namespace attnviz
