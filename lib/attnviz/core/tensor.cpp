#include "attnviz/core/tensor.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"

namespace attnviz {

std::optional<std::size_t> product_of(std::span<const std::size_t> sizes) noexcept {
  // A single zero makes the product zero, regardless of the other sizes.
  if (std::ranges::find(sizes, std::size_t{0}) != sizes.end()) {
    return 0;
  }
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) {
      return std::nullopt;
    }
  }
  return product;
}

std::size_t checked_product(std::initializer_list<std::size_t> sizes, std::string_view what) {
  const std::optional<std::size_t> product = product_of({sizes.begin(), sizes.size()});
  if (!product) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: the size is too large to count", what));
  }
  return *product;
}

MatrixBuffer::MatrixBuffer(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols) {
  const std::size_t bytes = checked_product({rows, cols, sizeof(float)}, "matrix");
  if (bytes == 0) {
    return;
  }
  data_ = {static_cast<float*>(allocate_zeroed(bytes)), Free{bytes}};
  if (!data_) {
    throw Error(ErrorKind::kIo,
                fmt::format("out of memory: a matrix of {} x {} floats was asked for", rows, cols));
  }
}

void MatrixBuffer::Free::operator()(float* data) const noexcept {
  free_zeroed(data, bytes);
}

MatrixBuffer copy_of(ConstMatrix rows) {
  MatrixBuffer copy(rows.rows, rows.cols);
  for (std::size_t row = 0; row < rows.rows; ++row) {
    std::ranges::copy(rows.row(row), copy.view().row_data(row));
  }
  return copy;
}

Matrix shaped(MatrixBuffer& kept, std::size_t rows, std::size_t cols) {
  const std::size_t has = kept.data_ == nullptr ? 0 : kept.data_.get_deleter().bytes;
  if (has < checked_product({rows, cols, sizeof(float)}, "matrix")) {
    kept = {};  // frees before allocating more
    kept = MatrixBuffer(rows, cols);
  }
  kept.rows_ = rows;
  kept.cols_ = cols;
  return kept.view();
}

}  // namespace attnviz
