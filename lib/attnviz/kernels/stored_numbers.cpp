#include "attnviz/kernels/stored_numbers.h"

#include <algorithm>
#include <cassert>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/unpack.h"

namespace attnviz {

namespace {

template <class Number>
void copy_numbers(const void* data, std::size_t first, std::span<float> to) {
  const auto* from = static_cast<const Number*>(data) + first;
  for (float& number : to) {
    number = number_at(from++);
  }
}

// Copies numbers from `first` on of a stored row.
void copy_stored(const StoredMatrix& matrix, std::size_t stored_row, std::size_t first,
                 std::span<float> to) {
  const void* const row =
      static_cast<const char*>(matrix.data) + stored_bytes(matrix.type, stored_row * matrix.stride);
  switch (matrix.type) {
    case StoredType::kF64:
      return copy_numbers<double>(row, first, to);
    case StoredType::kF32:
      return copy_numbers<float>(row, first, to);
    case StoredType::kF16:
      return copy_numbers<Float16>(row, first, to);
    case StoredType::kBf16:
      return copy_numbers<BFloat16>(row, first, to);
    default:
      assert(is_quantised(matrix.type) && "a matrix of integers");
      return kernels::dequantise(matrix.type, row, matrix.skip + first, to);
  }
}

}  // namespace

void copy_row(const StoredMatrix& matrix, std::size_t row, std::span<float> to) noexcept {
  assert(to.size() == matrix.cols);
  if (!matrix.transposed) {
    return copy_stored(matrix, row, 0, to);
  }
  for (std::size_t col = 0; col < matrix.cols; ++col) {
    copy_stored(matrix, col, row, to.subspan(col, 1));
  }
}

MatrixBuffer to_floats(const StoredMatrix& matrix) {
  MatrixBuffer floats(matrix.rows, matrix.cols);
  if (!matrix.transposed) {
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      copy_stored(matrix, row, 0, floats.view().row(row));
    }
    return floats;
  }
  // Reads some columns as they are stored, then writes across them, one cache line of the result at
  // a time.
  constexpr std::size_t kCols = 16;
  MatrixBuffer stored(std::min(kCols, matrix.cols), matrix.rows);
  for (std::size_t first = 0; first < matrix.cols; first += kCols) {
    const std::size_t cols = std::min(kCols, matrix.cols - first);
    for (std::size_t col = 0; col < cols; ++col) {
      copy_stored(matrix, first + col, 0, stored.view().row(col));
    }
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      for (std::size_t col = 0; col < cols; ++col) {
        floats.view()(row, first + col) = stored.view()(col, row);
      }
    }
  }
  return floats;
}

}  // namespace attnviz
