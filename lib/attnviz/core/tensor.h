// Matrix views that carry their shape, and the only owner of aligned float storage.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace attnviz {

/// A read-only view of [rows, cols] floats, row-major; row i starts at data + i * stride.
/// Does not own; valid as long as the viewed memory. rows == 0 means "absent".
///
/// Example:
///     const float values[] = {1, 2, 3, 4, 5, 6};
///     const attnviz::ConstMatrix matrix{values, 2, 3, 3};
///     if (matrix.row(1)[0] != 4) return 1;
struct ConstMatrix {
  const float* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;

  const float* row_data(std::size_t row) const noexcept { return data + row * stride; }
  std::span<const float> row(std::size_t row) const noexcept { return {row_data(row), cols}; }
  float operator()(std::size_t row, std::size_t col) const noexcept { return row_data(row)[col]; }
  bool empty() const noexcept { return rows == 0; }

  /// Rows [first, first + count). Precondition: in range.
  ConstMatrix row_block(std::size_t first, std::size_t count) const noexcept {
    return {data + first * stride, count, cols, stride};
  }
  /// Columns [first, first + count). Precondition: in range.
  ConstMatrix col_block(std::size_t first, std::size_t count) const noexcept {
    return {data + first, rows, count, stride};
  }
};

/// The writable counterpart of ConstMatrix.
struct Matrix {
  float* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;

  float* row_data(std::size_t row) const noexcept { return data + row * stride; }
  std::span<float> row(std::size_t row) const noexcept { return {row_data(row), cols}; }
  float& operator()(std::size_t row, std::size_t col) const noexcept { return row_data(row)[col]; }
  bool empty() const noexcept { return rows == 0; }
  operator ConstMatrix() const noexcept { return {data, rows, cols, stride}; }

  Matrix row_block(std::size_t first, std::size_t count) const noexcept {
    return {data + first * stride, count, cols, stride};
  }
  Matrix col_block(std::size_t first, std::size_t count) const noexcept {
    return {data + first, rows, count, stride};
  }
};

/// The product of sizes; nothing if it does not fit a size_t.
std::optional<std::size_t> product_of(std::span<const std::size_t> sizes) noexcept;
/// The same. Throws Error{kUsage} that names `what` if it does not fit a size_t.
std::size_t checked_product(std::initializer_list<std::size_t> sizes, std::string_view what);

/// Owns [rows, cols] floats, contiguous rows (stride == cols), 64-byte aligned, all 0 at first.
/// Movable, not copyable. Views stay valid until it is destroyed; a move keeps them valid.
class MatrixBuffer {
 public:
  MatrixBuffer() = default;
  /// Throws Error{kUsage} if the size overflows and Error{kIo} if memory runs out.
  MatrixBuffer(std::size_t rows, std::size_t cols);

  Matrix view() noexcept { return {data_.get(), rows_, cols_, cols_}; }
  ConstMatrix view() const noexcept { return {data_.get(), rows_, cols_, cols_}; }
  std::size_t rows() const noexcept { return rows_; }
  std::size_t cols() const noexcept { return cols_; }

 private:
  friend Matrix shaped(MatrixBuffer& kept, std::size_t rows, std::size_t cols);

  struct Free {
    std::size_t bytes;
    void operator()(float* data) const noexcept;
  };
  std::unique_ptr<float[], Free> data_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

/// A copy of the rows in memory of its own. Throws as MatrixBuffer does.
MatrixBuffer copy_of(ConstMatrix rows);

/// The view of `kept` in this shape, with undefined content. If its memory is too small, it is
/// freed and allocated anew. Throws as MatrixBuffer does.
Matrix shaped(MatrixBuffer& kept, std::size_t rows, std::size_t cols);

}  // namespace attnviz
