#include "attnviz/attention/parts/mlp.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "attnviz/attention/blocked_product.h"

namespace attnviz {

namespace {

constexpr double kHiddenAtOnce = 64e6;

// Tokens whose hidden layers lie in memory together.
std::size_t tokens_at_once(const Mlp& mlp, std::size_t n_tokens) noexcept {
  const double token_bytes =
      static_cast<double>(mlp.d_ff() * sizeof(float)) * (mlp.is_gated() ? 2.0 : 1.0);
  const auto fitting = static_cast<std::size_t>(kHiddenAtOnce / token_bytes);
  return std::min(n_tokens, std::max(fitting / kBlockRows, std::size_t{1}) * kBlockRows);
}

void activate_gated(const Mlp& mlp, ConstMatrix up, Matrix gate) noexcept {
  if (mlp.limit > 0.0f) {
    kernels::activate_limited(mlp.limit, up, gate);
  } else {
    kernels::activate_gated(mlp.activation, up, gate);
  }
}

// Φ⁻¹: below it lies this share of a standard normal distribution. Between 0 and 1.
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

// g becomes max(0, g - (mean + t · deviation)), row by row: what is left are a token's largest
// ones.
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
      g = g - cut < 0.0f ? 0.0f : g - cut;  // what is not a number stays so
    }
  }
}

// Of columns that alternate the first of each two to `gates`; the others move together.
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

}  // namespace

void run_mlp(const Mlp& mlp, ConstMatrix x, bool add, std::size_t n_threads, MlpMemory& memory,
             Matrix out) {
  assert(mlp.present());
  const std::size_t step = tokens_at_once(mlp, x.rows);
  const Matrix up_rows = shaped(memory.up, step, mlp.up.d_out());
  const Matrix gate_rows = mlp.is_gated() ? shaped(memory.gate, step, mlp.d_ff()) : Matrix{};
  for (std::size_t first = 0; first < x.rows; first += step) {
    const std::size_t count = std::min(step, x.rows - first);
    const ConstMatrix tokens = x.row_block(first, count);
    const Matrix up = up_rows.row_block(0, count);
    Matrix hidden = up;
    if (mlp.interleaved) {
      hidden = gate_rows.row_block(0, count);
      blocked_product(tokens, mlp.up, n_threads, up);
      activate_gated(mlp, take_apart(up, hidden), hidden);
    } else if (mlp.sparsity > 0.0) {
      constexpr std::size_t kWorkPerNumber = 8;
      hidden = gate_rows.row_block(0, count);
      blocked_product(tokens, mlp.up, n_threads, up);
      blocked_product(tokens, mlp.gate, n_threads, hidden);
      const double t = normal_quantile(mlp.sparsity);
      for_each_block(count, 1, kWorkPerNumber * hidden.cols, n_threads,
                     [&](const OutputBlock& block) {
                       const Matrix rows = hidden.row_block(block.first_row, block.n_rows);
                       keep_largest(t, rows);
                       activate_gated(mlp, up.row_block(block.first_row, block.n_rows), rows);
                     });
    } else if (mlp.is_gated()) {
      hidden = gate_rows.row_block(0, count);
      blocked_product(tokens, mlp.up, n_threads, up);
      blocked_product(tokens, mlp.gate, n_threads, hidden, [&](const OutputBlock& block) {
        activate_gated(mlp, block.of(up), block.of(hidden));
      });
    } else {
      blocked_product(tokens, mlp.up, n_threads, up, [&](const OutputBlock& block) {
        kernels::activate(mlp.activation, block.of(up));
      });
    }
    const Matrix result = out.row_block(first, count);
    if (add) {
      blocked_product_add(hidden, mlp.down, n_threads, result);
    } else {
      blocked_product(hidden, mlp.down, n_threads, result);
    }
  }
}

double mlp_bytes(const Mlp& mlp, std::size_t n_tokens) noexcept {
  if (!mlp.present()) {
    return 0.0;
  }
  const double hidden = mlp.is_gated() ? 2.0 : 1.0;
  return static_cast<double>(tokens_at_once(mlp, n_tokens) * sizeof(float)) * hidden *
         static_cast<double>(mlp.d_ff());
}

}  // namespace attnviz
