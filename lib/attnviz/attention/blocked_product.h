// A matrix product cut into blocks that threads share, and a text in the form that a model takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"
#include "attnviz/model/transformer_parts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Rows and columns of a block: whole tiles and panels of the product. Blocks with few rows, or
/// with quantised weights, have more columns.
inline constexpr std::size_t kBlockRows = 192;
inline constexpr std::size_t kBlockCols = 192;

/// Where a block lies in the output, and the index of the thread that computes it, as in
/// parallel_for().
struct OutputBlock {
  std::size_t first_row = 0, n_rows = 0, first_col = 0, n_cols = 0;
  std::size_t thread = 0;

  template <class AnyMatrix>
  AnyMatrix of(AnyMatrix all) const noexcept {
    return all.row_block(first_row, n_rows).col_block(first_col, n_cols);
  }
};

/// Called for each finished block while it is still in cache, by the thread that computed it.
using BlockDone = std::function<void(const OutputBlock& block)>;

/// out = x · weight + bias. x [n, d_in], out [n, d_out]; they must not overlap. The bits do not
/// depend on n_threads. Several threads are used only where the work is worth it.
void blocked_product(ConstMatrix x, const Projection& projection, std::size_t n_threads, Matrix out,
                     const BlockDone& done = {});

/// Computes one block of x · weight + bias into `out` [block.n_rows, block.n_cols].
void block_product(ConstMatrix x, const Projection& projection, const OutputBlock& block,
                   Matrix out);

/// out += x · weight + bias.
void blocked_product_add(ConstMatrix x, const Projection& projection, std::size_t n_threads,
                         Matrix out);

/// x *= factor.
void scale_rows(float factor, Matrix x) noexcept;

/// Number of threads worth using for this many multiply-adds: 1 or n_threads.
std::size_t worthwhile_threads(double multiply_adds, std::size_t n_threads) noexcept;

/// Calls `work` for every block of an output [n_rows, n_cols]. Each number of the output takes
/// `depth` multiply-adds. `is_quantised` says whether the weights are quantised.
void for_each_block(std::size_t n_rows, std::size_t n_cols, std::size_t depth,
                    std::size_t n_threads, const BlockDone& work, bool is_quantised = false);

/// Pieces, ids and segments of a text's tokens, in the columns that a ModelInput views. The pieces
/// are views into the text.
struct InputColumns {
  explicit InputColumns(const TokenizedText& text);

  std::vector<std::string_view> pieces;
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> segments;

  ModelInput view() const noexcept;
};

}  // namespace attnviz
