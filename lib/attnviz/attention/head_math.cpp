#include "attnviz/attention/head_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "attnviz/core/threads.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/model/different_projections.h"

namespace attnviz {

namespace {
constexpr float kRopeBase = 10000.0f;
}  // namespace

Rotation::Rotation(const Model& model, const LayerWeights& layer, std::size_t n_tokens,
                   std::size_t first_token)
    : rotates_(model.config.positions == Positions::kRope),
      n_tokens_(n_tokens),
      first_token_(first_token),
      rope_(layer.rope.get()) {
  if (rotates_ && rope_ != nullptr && rope_->n_rotated() > 0) {
    turns_ = MatrixBuffer(n_tokens - first_token, rope_->n_rotated());
    kernels::rope_table(first_token, rope_->frequencies(n_tokens),
                        static_cast<double>(rope_->magnitude), turns_.view());
  }
}

std::vector<double> Rotation::frequencies(std::size_t d_head) const {
  if (!rotates_) {
    return {};
  }
  if (rope_ != nullptr) {
    return rope_->frequencies(n_tokens_);
  }
  std::vector<double> frequencies;
  frequencies.reserve(d_head / 2);
  for (std::size_t i = 0; i < d_head / 2; ++i) {
    frequencies.push_back(std::pow(static_cast<double>(kRopeBase),
                                   -2.0 * static_cast<double>(i) / static_cast<double>(d_head)));
  }
  return frequencies;
}

void Rotation::apply(std::size_t first_position, Matrix x) const noexcept {
  if (rotates_ && rope_ == nullptr) {
    kernels::rope(x, first_position, kRopeBase);
  } else if (turns_.rows() > 0) {
    kernels::rope_rotate(turns_.view().row_block(first_position - first_token_, x.rows),
                         rope_->pairing, x.col_block(rope_->n_still, x.cols - rope_->n_still));
  }
}

void Rotation::grow_queries(std::size_t first_position, Matrix x) const noexcept {
  for (std::size_t row = 0; row < x.rows && rope_ != nullptr && rope_->query_growth != 0.0; ++row) {
    kernels::scale(x.row(row), static_cast<float>(rope_->query_factor(first_position + row)));
  }
}

void project_side(const Projection& projection, ConstMatrix x, Matrix out) noexcept {
  const std::size_t d_in = projection.d_in();
  const std::size_t d_out = projection.d_out();
  kernels::matmul(x.col_block(0, d_in), projection.weight, projection.bias,
                  out.col_block(0, d_out));
  for (std::size_t row = 0; row < x.rows && d_in < x.cols; ++row) {
    std::copy_n(x.row_data(row) + d_in, x.cols - d_in, out.row_data(row) + d_out);
  }
}

void norm_and_rotate(const HeadSide& side, const Rotation& rotation, std::size_t first_position,
                     Matrix x) noexcept {
  if (!side.norms_turned) {
    norm_head(side.norm, side.joint_factors, x);
  }
  rotation.apply(first_position, x);
  if (side.norms_turned) {
    norm_head(side.norm, side.joint_factors, x);
  }
  if (side.is_query) {
    rotation.grow_queries(first_position, x);
  }
}

void project_rotated(const HeadSide& side, const Rotation& rotation, ConstMatrix x,
                     std::size_t first_position, Matrix out) noexcept {
  project_side(side.projection, x, out);
  norm_and_rotate(side, rotation, first_position, out);
}

void norm_head(const Norm& norm, std::span<const float> joint_factors, Matrix x) noexcept {
  if (joint_factors.empty()) {
    return apply_norm(norm, x, x);
  }
  for (std::size_t row = 0; row < x.rows; ++row) {
    const std::span<float> numbers = x.row(row);
    for (std::size_t col = 0; col < x.cols; ++col) {
      numbers[col] = numbers[col] * joint_factors[row] * (norm.weight[col] + norm.weight_offset);
    }
  }
}

namespace {

// Returns 1 / √(mean square + epsilon), over all outputs of the projections for each row of x.
std::vector<float> joint_factors(const std::vector<const Projection*>& projections, double epsilon,
                                 ConstMatrix x, std::size_t n_threads) {
  std::size_t width = 0;
  for (const Projection* one : projections) {
    width += one->d_out();
  }
  std::vector<float> factors(x.rows);
  constexpr std::size_t kRows = 64;
  parallel_for((x.rows + kRows - 1) / kRows, n_threads, [&](std::size_t block, std::size_t) {
    const std::size_t first = block * kRows;
    const ConstMatrix rows = x.row_block(first, std::min(kRows, x.rows - first));
    std::vector<double> squares(rows.rows);
    for (const Projection* one : projections) {
      MatrixBuffer projected(rows.rows, one->d_out());
      kernels::matmul(rows, one->weight, one->bias, projected.view());
      for (std::size_t row = 0; row < rows.rows; ++row) {
        for (const float number : projected.view().row(row)) {
          squares[row] += static_cast<double>(number) * static_cast<double>(number);
        }
      }
    }
    for (std::size_t row = 0; row < rows.rows; ++row) {
      factors[first + row] =
          static_cast<float>(1.0 / std::sqrt(squares[row] / static_cast<double>(width) + epsilon));
    }
  });
  return factors;
}

}  // namespace

JointFactors joint_factors(const LayerWeights& layer, ConstMatrix x, std::size_t n_threads) {
  if (!layer.norms_heads_together) {
    return {};
  }
  DifferentProjections queries;
  DifferentProjections keys;
  for (const HeadWeights& head : layer.heads) {
    queries.add(head.query);
    keys.add(head.key);
  }
  return {joint_factors(queries.list(), layer.query_norm.epsilon, x, n_threads),
          joint_factors(keys.list(), layer.key_norm.epsilon, x, n_threads)};
}

Mask mask_of(const Model& model, std::size_t layer, const AttentionRequest& request) noexcept {
  return request.mask.value_or(model.layers[layer].mask.value_or(model.config.mask));
}

double alibi_slope(std::size_t head, std::size_t n_heads) noexcept {
  const std::size_t power = std::bit_floor(n_heads);
  const double step = -8.0 / static_cast<double>(power);
  if (head < power) {
    return std::exp2(step * static_cast<double>(head + 1));
  }
  return std::exp2(step / 2.0 * static_cast<double>(2 * (head - power) + 1));
}

float score_factor(const LayerWeights& layer, std::size_t head,
                   const AttentionRequest& request) noexcept {
  const auto d_head = static_cast<double>(layer.heads[head].d_head());
  const double own = layer.score_scale == 0.0 ? 1.0 / std::sqrt(d_head) : layer.score_scale;
  const double scale = request.scale ? own : 1.0;
  const double divisor = layer.soft_cap > 0.0f ? 1.0 : static_cast<double>(request.temperature);
  return static_cast<float>(scale / divisor);
}

RowRule row_rule(const Model& model, HeadId head, const AttentionRequest& request) noexcept {
  const LayerWeights& layer = model.layers[head.layer];
  RowRule rule;
  rule.head = head;
  rule.mask = mask_of(model, head.layer, request);
  rule.factor = score_factor(layer, head.head, request);
  rule.soft_cap = layer.soft_cap;
  if (!layer.sinks.empty()) {
    rule.sink = layer.sinks[head.head] / request.temperature;
  }
  rule.capped_factor = 1.0f / request.temperature;
  rule.dropout = {request.dropout, request.dropout_seed};
  if (model.config.positions == Positions::kAlibi) {
    rule.distance_penalty = static_cast<float>(alibi_slope(head.head, layer.heads.size()) /
                                               static_cast<double>(request.temperature));
  }
  if (layer.distance_bias) {
    rule.distance_bias = layer.distance_bias->of_heads.view().row(head.head);
    rule.bias_factor = 1.0f / request.temperature;
  }
  return rule;
}

namespace {

Matrix scratch_rows(BlockScratch& scratch, std::size_t rows, std::size_t cols) {
  // One panel more than the columns need: rows that are a large power of two apart would share the
  // same few cache sets.
  const std::size_t stride = cols + kernels::KeyPanels::kKeys;
  const std::size_t floats = rows * stride;
  if (scratch.scores.cols() < floats) {
    scratch.scores = MatrixBuffer(1, floats);
  }
  return {scratch.scores.view().data, rows, cols, stride};
}

// Finds each query's range, and returns a range that covers all of them.
KeyRange find_ranges(const Mask& mask, std::size_t first_query, std::size_t n_queries,
                     std::size_t n_keys, std::vector<KeyRange>& ranges) {
  ranges.resize(n_queries);
  if (mask.kind == MaskKind::kCausal) {
    // Causal masks have their own loops: with few keys, calling the mask and checking a bound would
    // cost measurable time.
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
  // Whole panels that cover the keys which any of the queries sees.
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
    kernels::flush_streams();  // after the mixing, during which most of them complete
  }
  if (!is_fine) {
    block.fault = BlockFault::kScore;
  } else if (!kernels::all_finite(context)) {
    block.fault = BlockFault::kContext;
  }
  return block;
}

}  // namespace attnviz
