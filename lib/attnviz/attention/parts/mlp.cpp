#include "attnviz/attention/parts/layer_parts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/layer.h"

namespace attnviz {

namespace {

constexpr double kHiddenAtOnce = 64e6;

// Number of tokens whose hidden layers are in memory together.
std::size_t tokens_at_once(const Mlp& mlp, std::size_t n_tokens) noexcept {
  const auto token_bytes = static_cast<double>(mlp.d_ff() * sizeof(float));
  const auto fitting = static_cast<std::size_t>(kHiddenAtOnce / token_bytes);
  return std::min(n_tokens, std::max(fitting / kBlockRows, std::size_t{1}) * kBlockRows);
}

void activate_gated(const Mlp& mlp, ConstMatrix up, Matrix gate) noexcept {
  scale_rows(mlp.gate_scale, gate);
  if (mlp.limit > 0.0f) {
    kernels::activate_limited(mlp.limit, up, gate);
  } else {
    kernels::activate_gated(mlp.activation, up, gate);
  }
  scale_rows(mlp.hidden_scale, gate);
}

// Φ⁻¹: this share of a standard normal distribution lies below the result. `share` is in (0, 1).
double normal_quantile(double share) noexcept {
  double low = -40.0;
  double high = 40.0;
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2.0;
    const bool is_above = 0.5 * std::erfc(-middle / std::numbers::sqrt2) > share;
    (is_above ? high : low) = middle;
  }
  return (low + high) / 2.0;
}

// Replaces g by max(0, g - (mean + t · deviation)), row by row: only a token's largest values
// remain.
void keep_largest(double t, Matrix gate) noexcept {
  const auto n = static_cast<double>(gate.cols);
  for (std::size_t row = 0; row < gate.rows; ++row) {
    double mean = 0.0;
    for (const float g : gate.row(row)) {
      mean += static_cast<double>(g) / n;
    }
    double variance = 0.0;
    for (const float g : gate.row(row)) {
      const double apart = static_cast<double>(g) - mean;
      variance += apart * apart / n;
    }
    const auto cut = static_cast<float>(mean + t * std::sqrt(variance));
    for (float& g : gate.row(row)) {
      g = g - cut < 0.0f ? 0.0f : g - cut;  // NaN stays NaN
    }
  }
}

// Columns alternate: copies the first of each pair to `gates`, and moves the second ones together.
Matrix take_apart(Matrix both, Matrix gates) noexcept {
  for (std::size_t row = 0; row < both.rows; ++row) {
    float* const from = both.row_data(row);
    float* const gate = gates.row_data(row);
    for (std::size_t i = 0; i < gates.cols; ++i) {
      gate[i] = from[2 * i];
      from[i] = from[2 * i + 1];
    }
  }
  return both.col_block(0, gates.cols);
}

// Computes the hidden layer. A block's gates are applied while both factors are in cache.
void run_hidden(const Mlp& mlp, ConstMatrix tokens, std::size_t n_threads,
                std::vector<MatrixBuffer>& ups, Matrix hidden) {
  if (!mlp.is_gated()) {
    return blocked_product(tokens, mlp.up, n_threads, hidden, [&](const OutputBlock& block) {
      kernels::activate(mlp.activation, block.of(hidden));
    });
  }
  const auto up_of = [&](const OutputBlock& block) {
    const Matrix up = shaped(ups[block.thread], block.n_rows, block.n_cols);
    block_product(tokens, mlp.up, block, up);
    return up;
  };
  const auto open = [&](const OutputBlock& block) {
    activate_gated(mlp, up_of(block), block.of(hidden));
  };
  const auto open_all = [&](std::size_t n_cols, const BlockDone& work) {
    for_each_block(hidden.rows, n_cols, tokens.cols, n_threads, work,
                   is_quantised(mlp.up.weight.type));
  };
  if (mlp.interleaved) {
    open_all(mlp.up.d_out(), [&](OutputBlock block) {
      const Matrix both = up_of(block);
      block.first_col /= 2;
      block.n_cols /= 2;
      const Matrix gates = block.of(hidden);
      activate_gated(mlp, take_apart(both, gates), gates);
    });
  } else if (mlp.sparsity > 0.0) {
    constexpr std::size_t kWorkPerNumber = 8;
    blocked_product(tokens, mlp.gate, n_threads, hidden);
    const double t = normal_quantile(mlp.sparsity);
    for_each_block(hidden.rows, 1, kWorkPerNumber * hidden.cols, n_threads,
                   [&](const OutputBlock& block) {
                     keep_largest(t, hidden.row_block(block.first_row, block.n_rows));
                   });
    open_all(hidden.cols, open);
  } else {
    blocked_product(tokens, mlp.gate, n_threads, hidden, open);
  }
}

}  // namespace

void run_mlp(const Mlp& mlp, ConstMatrix x, bool add, std::size_t n_threads, MlpMemory& memory,
             Matrix out) {
  assert(mlp.present());
  const std::size_t step = tokens_at_once(mlp, x.rows);
  const Matrix hidden_rows = shaped(memory.hidden, step, mlp.d_ff());
  memory.up.resize(std::max({memory.up.size(), n_threads, std::size_t{1}}));
  for (std::size_t first = 0; first < x.rows; first += step) {
    const std::size_t count = std::min(step, x.rows - first);
    const Matrix hidden = hidden_rows.row_block(0, count);
    run_hidden(mlp, x.row_block(first, count), n_threads, memory.up, hidden);
    const Matrix result = out.row_block(first, count);
    if (add) {
      blocked_product_add(hidden, mlp.down, n_threads, result);
    } else {
      blocked_product(hidden, mlp.down, n_threads, result);
    }
  }
}

double mlp_bytes(const Mlp& mlp, std::size_t n_tokens) noexcept {
  return mlp.present() ? static_cast<double>(tokens_at_once(mlp, n_tokens) * sizeof(float)) *
                             static_cast<double>(mlp.d_ff())
                       : 0.0;
}

namespace {

// Numbers per token of a learned residual: its input, the narrow product, and the sum.
double laurel_width(const Laurel& laurel) noexcept {
  return laurel.present()
             ? static_cast<double>(laurel.left.d_in() + laurel.left.d_out() + laurel.right.d_out())
             : 0.0;
}

}  // namespace

double layer_bytes(const Model& model, std::size_t n_tokens) {
  // The layer's input and output, normed and added values; with several streams, all of them.
  const double several =
      model.altup.present() ? 2.0 * static_cast<double>(model.altup.n_streams()) + 4.0 : 0.0;
  const double streams = several + (model.config.order == LayerOrder::kAttentionOnly ? 2.0 : 4.0);
  const double token_bytes = static_cast<double>(n_tokens) * static_cast<double>(sizeof(float));
  double most = 0.0;
  for (const LayerWeights& layer : model.layers) {
    double contexts = 0.0;
    for (const HeadWeights& head : layer.heads) {
      contexts += token_bytes * static_cast<double>(head.d_value() + head.output_gate.d_out());
    }
    const double turns =
        layer.rope ? token_bytes * static_cast<double>(layer.rope->n_rotated()) : 0.0;
    const double latents = token_bytes * static_cast<double>(layer.latents.query_rank() +
                                                             layer.latents.key_down.d_out());
    const double learned = token_bytes * laurel_width(layer.laurel);
    const double gated =
        token_bytes * static_cast<double>(layer.input.gate.d_out() + layer.convolution.in.d_out() +
                                          layer.convolution.n_channels());
    most = std::max(most, tensor_bytes(layer, n_tokens) + mlp_bytes(layer.mlp, n_tokens) +
                              expert_bytes(layer.experts, n_tokens) +
                              recurrence_bytes(layer.recurrence, n_tokens) + contexts + turns +
                              latents + learned + gated);
  }
  // The inputs of all layers exist from the first one on.
  const double inputs =
      token_bytes * static_cast<double>(model.layer_embeddings.projection.d_out());
  double lent = 0.0;
  for (const std::size_t layer : model.lending_layers()) {
    lent += LayerCache::bytes(model.layers[layer], n_tokens);
  }
  return most + inputs + lent + streams * token_bytes * static_cast<double>(model.config.d_model);
}

}  // namespace attnviz
