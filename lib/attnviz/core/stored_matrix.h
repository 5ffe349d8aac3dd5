// A weight matrix as it lies in its file.
#pragma once

#include <cstddef>

#include "attnviz/core/stored_type.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// A read-only view of [rows, cols] numbers that are F32, F16, BF16 or F64 in the machine's byte
/// order, or quantised in little-endian blocks. Does not own; valid as long as what it looks at.
/// rows == 0 means "absent".
///
/// Number (row, col) is the one at row * stride + col, or, when transposed, at col * stride + row:
/// weights map [d_in] to [d_out], and many files keep them as [d_out, d_in].
///
/// `data` may be any address, as a tensor may begin at any byte of its file: numbers are read with
/// number_at(), or as vectors that need no alignment. kernels/stored_numbers.h reads them one by
/// one, by rows and all.
///
/// Quantised numbers lie in blocks, whole ones in each stored row: `stride`, which counts numbers
/// as always, is a multiple of the block's. `data` is where a block begins, and `skip` numbers of
/// each stored row lie before those that are looked at, fewer than a block has.
struct StoredMatrix {
  const void* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
  StoredType type = StoredType::kF32;
  bool transposed = false;
  std::size_t skip = 0;

  StoredMatrix() = default;
  StoredMatrix(const void* numbers, std::size_t n_rows, std::size_t n_cols, std::size_t step,
               StoredType stored = StoredType::kF32, bool is_transposed = false) noexcept
      : data(numbers),
        rows(n_rows),
        cols(n_cols),
        stride(step),
        type(stored),
        transposed(is_transposed) {}
  StoredMatrix(ConstMatrix floats) noexcept
      : StoredMatrix(floats.data, floats.rows, floats.cols, floats.stride) {}
  StoredMatrix(Matrix floats) noexcept : StoredMatrix(ConstMatrix(floats)) {}

  bool empty() const noexcept { return rows == 0; }

  /// Rows [first, first + count). Precondition: in range.
  StoredMatrix row_block(std::size_t first, std::size_t count) const noexcept;
  /// Columns [first, first + count). Precondition: in range.
  StoredMatrix col_block(std::size_t first, std::size_t count) const noexcept;

  /// Precondition: is_floats().
  ConstMatrix as_floats() const noexcept {
    return {static_cast<const float*>(data), rows, cols, stride};
  }
  /// F32, not transposed, and where floats may lie.
  bool is_floats() const noexcept;

  /// The same view of the same numbers.
  bool operator==(const StoredMatrix&) const = default;

 private:
  // Moves along stored rows, or to another one.
  void advance(std::size_t stored_rows, std::size_t numbers) noexcept;
};

}  // namespace attnviz
