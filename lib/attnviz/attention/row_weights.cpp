#include "attnviz/attention/row_weights.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/core/random_bits.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// The first numbers of each row are a latent, which is normed.
ConstMatrix project_down(const Projection& down, const Norm& norm, ConstMatrix y,
                         std::size_t n_threads, MatrixBuffer& memory) {
  const Matrix out = shaped(memory, y.rows, down.d_out());
  blocked_product(y, down, n_threads, out);
  const Matrix latent = out.col_block(0, norm.weight.size());
  apply_norm(norm, latent, latent);
  return out;
}

}  // namespace

HeadInputs head_inputs(const LayerWeights& layer, ConstMatrix y, std::size_t n_threads,
                       LatentMemory& memory) {
  const Latents& latents = layer.latents;
  if (!latents.present()) {
    return {y, y};
  }
  const ConstMatrix queries =
      latents.query_rank() == 0
          ? y
          : project_down(latents.query_down, latents.query_norm, y, n_threads, memory.queries);
  return {queries, project_down(latents.key_down, latents.key_norm, y, n_threads, memory.keys)};
}

void project_values(const LayerWeights& layer, const Projection& value, ConstMatrix keys,
                    Matrix out) noexcept {
  kernels::matmul(keys.col_block(0, value.d_in()), value.weight, value.bias, out);
  apply_norm(layer.value_norm, out, out);
}

namespace {

// Penalises keys before and after the query alike, so that it also suits bidirectional models.
void penalise_distance(float penalty, std::size_t query, std::size_t first_key,
                       std::span<float> scores) noexcept {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::size_t key = first_key + i;
    const std::size_t distance = key < query ? query - key : key - query;
    scores[i] -= penalty * static_cast<float>(distance);
  }
}

// All distant keys share one number; within reach, each distance has its own, in the order of the
// keys.
void add_distance_bias(const RowRule& rule, std::size_t query, std::size_t first_key,
                       std::span<float> scores) noexcept {
  const std::span<const float> bias = rule.distance_bias;
  const std::size_t reach = bias.size() / 2;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::size_t key = first_key + i;
    const std::size_t place =
        key < query ? reach - std::min(reach, query - key) : reach + std::min(reach, key - query);
    scores[i] += rule.bias_factor * bias[place];
  }
}

// `scores` covers the range of keys that the mask lets through, including its gaps.
void hide_gaps(const RowRule& rule, const EdgeBlock* edges, std::size_t query,
               std::size_t first_key, std::span<float> scores) noexcept {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; rule.mask.has_gaps() && i < scores.size(); ++i) {
    if (!rule.mask.visible(query, first_key + i)) {
      scores[i] = kHidden;
    }
  }
  for (std::size_t i = 0; edges != nullptr && i < scores.size(); ++i) {
    if (edges->is_hidden(query, first_key + i)) {
      scores[i] = kHidden;
    }
  }
}

std::span<float> visible_part(std::span<float> row, KeyRange seen, std::size_t first_key) noexcept {
  return seen.size() == 0 ? std::span<float>{} : row.subspan(seen.first - first_key, seen.size());
}

bool weigh(const RowRule& rule, const EdgeBlock* edges, float factor, std::size_t query,
           std::size_t first_key, std::span<float> scores, std::span<float> sink) noexcept {
  if (rule.distance_penalty != 0.0f) {
    kernels::scale(scores, std::exchange(factor, 1.0f));
    penalise_distance(rule.distance_penalty, query, first_key, scores);
  }
  if (!rule.distance_bias.empty()) {
    kernels::scale(scores, std::exchange(factor, 1.0f));
    add_distance_bias(rule, query, first_key, scores);
  }
  if (!kernels::all_finite(scores)) {
    return false;
  }
  if (edges != nullptr || rule.mask.has_gaps()) {
    hide_gaps(rule, edges, query, first_key, scores);
  }
  return kernels::softmax(scores.data(), scores.size(), factor, {rule.sink, sink});
}

bool is_plain(const RowRule& rule) noexcept {
  return rule.distance_penalty == 0.0f && rule.distance_bias.empty() && !rule.mask.has_gaps() &&
         rule.observer == nullptr;
}

// softmax_rows() for rules with a distance penalty or bias, hidden edges or a mask with gaps.
std::size_t weigh_rows(const RowRule& rule, const EdgeBlock* edges, float factor,
                       std::size_t first_query, std::span<const KeyRange> ranges,
                       std::size_t first_key, Matrix rows, std::span<float> sinks) noexcept {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    const std::span<float> all = rows.row(row);
    const std::span<float> visible = visible_part(all, ranges[row], first_key);
    if (!weigh(rule, edges, factor, first_query + row, ranges[row].first, visible,
               sinks.empty() ? sinks : sinks.subspan(row, 1))) {
      return row;
    }
    const std::size_t before = visible.empty() ? all.size() : ranges[row].first - first_key;
    const std::span<float> hidden_before = all.first(before);
    const std::span<float> hidden_after = all.subspan(before + visible.size());
    std::fill(hidden_before.begin(), hidden_before.end(), 0.0f);
    std::fill(hidden_after.begin(), hidden_after.end(), 0.0f);
  }
  return rows.rows;
}

}  // namespace

void Dropout::apply(HeadId head, std::size_t query, std::size_t first_key,
                    std::span<float> weights) const noexcept {
  const RandomBits bits{seed, head.layer, head.head, query};
  const float factor = 1.0f / (1.0f - rate);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // 24 bits become a float in [0, 1) without rounding.
    const float uniform = static_cast<float>(bits[first_key + i] >> 40) * 0x1p-24f;
    weights[i] = uniform < rate ? 0.0f : weights[i] * factor;
  }
}

KeyRange visible_range(const Mask& mask, std::size_t first_query, std::size_t end_query,
                       std::size_t n_keys) noexcept {
  KeyRange range{mask.first_key(first_query), mask.end_key(first_query, n_keys)};
  for (std::size_t query = first_query + 1; query < end_query; ++query) {
    range.first = std::min(range.first, mask.first_key(query));
    range.end = std::max(range.end, mask.end_key(query, n_keys));
  }
  return range;
}

std::size_t scores_to_weights(const RowRule& rule, std::size_t first_query,
                              std::span<const KeyRange> ranges, std::size_t first_key, Matrix rows,
                              const EdgeBlock* edges, Matrix copy,
                              std::span<float> sinks) noexcept {
  float factor = rule.factor;
  if (rule.soft_cap > 0.0f) {
    for (std::size_t row = 0; row < rows.rows; ++row) {
      kernels::soft_cap(visible_part(rows.row(row), ranges[row], first_key), rule.soft_cap, factor);
    }
    factor = rule.capped_factor;
  }
  const std::size_t refused =
      is_plain(rule)
          ? kernels::softmax_rows(rows, ranges, first_key, factor, copy, {rule.sink, sinks})
          : weigh_rows(rule, edges, factor, first_query, ranges, first_key, rows, sinks);
  if (rule.dropout.rate > 0.0f) {
    for (std::size_t row = 0; row < refused; ++row) {
      rule.dropout.apply(rule.head, first_query + row, ranges[row].first,
                         visible_part(rows.row(row), ranges[row], first_key));
    }
  }
  return refused;
}

bool can_copy(const RowRule& rule, std::span<const KeyRange> ranges,
              std::size_t first_key) noexcept {
  return is_plain(rule) && rule.dropout.rate == 0.0f &&
         ((rule.mask.kind == MaskKind::kCausal && first_key == 0) ||
          std::all_of(ranges.begin(), ranges.end(), [first_key](const KeyRange& range) {
            return range.first == first_key || range.first >= range.end;
          }));
}

}  // namespace attnviz
