// A matrix product cut into blocks that threads share. A text as a model takes it.
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

/// Rows and columns of a block: whole tiles and panels of the product. Blocks of few rows, or by
/// quantised weights, have more columns.
inline constexpr std::size_t kBlockRows = 192;
inline constexpr std::size_t kBlockCols = 192;

/// Where a block lies in the output, and the thread that works on it, as parallel_for() has it.
struct OutputBlock {
  std::size_t first_row = 0, n_rows = 0, first_col = 0, n_cols = 0;
  std::size_t thread = 0;

  template <class AnyMatrix>
  AnyMatrix of(AnyMatrix all) const noexcept {
    return all.row_block(first_row, n_rows).col_block(first_col, n_cols);
  }
};

/// Called for each finished block while it is in cache, by the thread that computed it.
using BlockDone = std::function<void(const OutputBlock& block)>;

/// out = x · weight + bias. x [n, d_in], out [n, d_out], no overlap. The bits do not depend on
/// n_threads, which are used when the work pays.
void blocked_product(ConstMatrix x, const Projection& projection, std::size_t n_threads, Matrix out,
                     const BlockDone& done = {});

/// One block of x · weight + bias, to `out` [block.n_rows, block.n_cols].
void block_product(ConstMatrix x, const Projection& projection, const OutputBlock& block,
                   Matrix out);

/// out += x · weight + bias.
void blocked_product_add(ConstMatrix x, const Projection& projection, std::size_t n_threads,
                         Matrix out);

/// x *= factor.
void scale_rows(float factor, Matrix x) noexcept;

/// The threads that pay for so many multiply-adds: one, or n_threads.
std::size_t worthwhile_threads(double multiply_adds, std::size_t n_threads) noexcept;

/// Runs `work` for every block of [n_rows, n_cols], of which a number takes `depth` multiply-adds,
/// by weights that are quantised or not.
void for_each_block(std::size_t n_rows, std::size_t n_cols, std::size_t depth,
                    std::size_t n_threads, const BlockDone& work, bool is_quantised = false);

/// Pieces, ids and segments of a text's tokens: what a ModelInput is a view of. The pieces are
/// views into the text.
struct InputColumns {
  explicit InputColumns(const TokenizedText& text);

  std::vector<std::string_view> pieces;
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> segments;

  ModelInput view() const noexcept;
};

}  // namespace attnviz
