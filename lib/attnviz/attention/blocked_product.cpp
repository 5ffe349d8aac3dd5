#include "attnviz/attention/blocked_product.h"

#include <algorithm>
#include <cstddef>

#include "attnviz/core/threads.h"
#include "attnviz/kernels/products.h"

namespace attnviz {

namespace {

// Multiply-adds that take about as long as starting a thread for the first time, giving it a CPU
// and waiting for it; the thread would save more than half of them. Waking it again takes less.
constexpr double kWorthAThread = 16e6;
constexpr double kWorthWaking = 2e6;

// Columns of a block. Work done once per block, such as converting activations to integers, weighs
// heavily in products with few rows and with quantised weights. There a block has a fourth of all
// columns, or of a thread's.
std::size_t block_cols(std::size_t n_rows, std::size_t n_cols, bool is_quantised,
                       std::size_t n_threads) noexcept {
  constexpr std::size_t kFewRows = 16;
  constexpr std::size_t kParts = 4;
  constexpr std::size_t kMostCols = 4 * kBlockCols;  // with many rows, which stay in the cache
  const auto in_blocks = [](std::size_t cols) {
    return std::max<std::size_t>((cols + kBlockCols - 1) / kBlockCols, 1) * kBlockCols;
  };
  if (n_rows <= kFewRows) {
    return in_blocks(n_cols / (kParts * std::max<std::size_t>(n_threads, 1)));
  }
  return is_quantised ? std::min(in_blocks(n_cols / kParts), kMostCols) : kBlockCols;
}

std::span<const float> bias_of(const Projection& projection, const OutputBlock& block) noexcept {
  return projection.bias.empty() ? projection.bias
                                 : projection.bias.subspan(block.first_col, block.n_cols);
}

}  // namespace

void scale_rows(float factor, Matrix x) noexcept {
  for (std::size_t row = 0; row < x.rows && factor != 1.0f; ++row) {
    kernels::scale(x.row(row), factor);
  }
}

std::size_t worthwhile_threads(double multiply_adds, std::size_t n_threads) noexcept {
  const double least = has_threads_that_wait() ? kWorthWaking : kWorthAThread;
  return multiply_adds < least ? 1 : std::max<std::size_t>(n_threads, 1);
}

void for_each_block(std::size_t n_rows, std::size_t n_cols, std::size_t depth,
                    std::size_t n_threads, const BlockDone& work, bool is_quantised) {
  const std::size_t row_blocks = (n_rows + kBlockRows - 1) / kBlockRows;
  const double multiply_adds =
      static_cast<double>(n_rows) * static_cast<double>(n_cols) * static_cast<double>(depth);
  const std::size_t threads = worthwhile_threads(multiply_adds, n_threads);
  const std::size_t most_cols = block_cols(n_rows, n_cols, is_quantised, threads);
  const std::size_t col_blocks = (n_cols + most_cols - 1) / most_cols;
  parallel_for(row_blocks * col_blocks, threads, [&](std::size_t item, std::size_t thread) {
    OutputBlock block;
    block.thread = thread;
    block.first_row = item / col_blocks * kBlockRows;
    block.first_col = item % col_blocks * most_cols;
    block.n_rows = std::min(kBlockRows, n_rows - block.first_row);
    block.n_cols = std::min(most_cols, n_cols - block.first_col);
    work(block);
  });
}

void block_product(ConstMatrix x, const Projection& projection, const OutputBlock& block,
                   Matrix out) {
  kernels::matmul(x.row_block(block.first_row, block.n_rows),
                  projection.weight.col_block(block.first_col, block.n_cols),
                  bias_of(projection, block), out);
}

void blocked_product(ConstMatrix x, const Projection& projection, std::size_t n_threads, Matrix out,
                     const BlockDone& done) {
  const auto work = [&](const OutputBlock& block) {
    block_product(x, projection, block, block.of(out));
    if (done) {
      done(block);
    }
  };
  for_each_block(out.rows, out.cols, x.cols, n_threads, work, is_quantised(projection.weight.type));
}

void blocked_product_add(ConstMatrix x, const Projection& projection, std::size_t n_threads,
                         Matrix out) {
  const auto work = [&](const OutputBlock& block) {
    const Matrix sum = block.of(out);
    const std::span<const float> bias = bias_of(projection, block);
    for (std::size_t row = 0; row < sum.rows && !bias.empty(); ++row) {
      std::transform(bias.begin(), bias.end(), sum.row_data(row), sum.row_data(row), std::plus<>());
    }
    kernels::matmul_add(x.row_block(block.first_row, block.n_rows),
                        projection.weight.col_block(block.first_col, block.n_cols), sum);
  };
  for_each_block(out.rows, out.cols, x.cols, n_threads, work, is_quantised(projection.weight.type));
}

InputColumns::InputColumns(const TokenizedText& text) : pieces(text.pieces()), ids(text.ids()) {
  segments.reserve(text.size());
  for (const Token& token : text.tokens) {
    segments.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(token.segment, 255)));
  }
}

ModelInput InputColumns::view() const noexcept {
  ModelInput input(pieces);
  input.ids = ids;
  input.segments = segments;
  return input;
}

}  // namespace attnviz
