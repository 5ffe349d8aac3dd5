#include "attnviz/core/stored_matrix.h"

#include <cassert>
#include <cstdint>

#include "attnviz/core/float16.h"

namespace attnviz {

namespace {

template <class Number>
void copy_numbers(const void* data, std::size_t first, std::size_t step, std::span<float> to) {
  const auto* from = static_cast<const Number*>(data);
  std::size_t at = first;
  for (float& number : to) {
    number = number_at(from + at);
    at += step;
  }
}

const void* advanced(const StoredMatrix& matrix, std::size_t numbers) noexcept {
  return static_cast<const char*>(matrix.data) + numbers * stored_type_size(matrix.type);
}

}  // namespace

bool StoredMatrix::is_floats() const noexcept {
  return type == StoredType::kF32 && !transposed &&
         reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0;
}

StoredMatrix StoredMatrix::row_block(std::size_t first, std::size_t count) const noexcept {
  return {
      advanced(*this, transposed ? first : first * stride), count, cols, stride, type, transposed};
}

StoredMatrix StoredMatrix::col_block(std::size_t first, std::size_t count) const noexcept {
  return {
      advanced(*this, transposed ? first * stride : first), rows, count, stride, type, transposed};
}

float value(const StoredMatrix& matrix, std::size_t row, std::size_t col) noexcept {
  float number = 0.0f;
  copy_row(matrix.col_block(col, 1), row, {&number, 1});
  return number;
}

void copy_row(const StoredMatrix& matrix, std::size_t row, std::span<float> to) noexcept {
  assert(to.size() == matrix.cols);
  const std::size_t first = matrix.transposed ? row : row * matrix.stride;
  const std::size_t step = matrix.transposed ? matrix.stride : 1;
  switch (matrix.type) {
    case StoredType::kF64:
      return copy_numbers<double>(matrix.data, first, step, to);
    case StoredType::kF32:
      return copy_numbers<float>(matrix.data, first, step, to);
    case StoredType::kF16:
      return copy_numbers<Float16>(matrix.data, first, step, to);
    case StoredType::kBf16:
      return copy_numbers<BFloat16>(matrix.data, first, step, to);
    default:
      assert(false && "a matrix of floating-point numbers");
  }
}

MatrixBuffer to_floats(const StoredMatrix& matrix) {
  MatrixBuffer floats(matrix.rows, matrix.cols);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    copy_row(matrix, row, floats.view().row(row));
  }
  return floats;
}

}  // namespace attnviz
