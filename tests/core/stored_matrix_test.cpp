#include "attnviz/core/stored_matrix.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace attnviz {

TEST_CASE("stored matrix: floats are a matrix as they are") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const ConstMatrix floats{values.data(), 2, 3, 4};
  const StoredMatrix matrix = floats;
  CHECK(matrix.is_floats());
  CHECK(!matrix.empty());
  CHECK(StoredMatrix().empty());
  CHECK(matrix.as_floats().data == floats.data);
  CHECK(matrix.as_floats().stride == 4);
  CHECK(value(matrix, 1, 2) == 7.0f);
  CHECK(matrix == StoredMatrix(floats));
  CHECK(matrix.row_block(1, 1) != matrix);
  CHECK(matrix.row_block(0, 2) == matrix);
}

TEST_CASE("stored matrix: numbers at an odd address are the same, but no matrix of floats") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<char> bytes(1 + values.size() * sizeof(float));
  std::memcpy(&bytes[1], values.data(), values.size() * sizeof(float));
  const StoredMatrix matrix(&bytes[1], 2, 3, 3);
  CHECK(!matrix.is_floats());
  CHECK(value(matrix, 1, 1) == 5.0f);
  CHECK(to_floats(matrix).view()(1, 2) == 6.0f);
}

TEST_CASE("stored matrix: a transposed one is read down its storage's columns") {
  const std::vector<float> values = {1, 2, 3, 4,  //
                                     5, 6, 7, 8};
  // Two outputs of three inputs each; the fourth number belongs to neither.
  const StoredMatrix matrix(values.data(), 3, 2, 4, StoredType::kF32, true);
  CHECK(!matrix.is_floats());
  CHECK(value(matrix, 0, 1) == 5.0f);
  CHECK(value(matrix, 2, 0) == 3.0f);
  std::vector<float> row(2);
  copy_row(matrix, 1, row);
  CHECK(row == std::vector<float>{2, 6});
  CHECK(value(matrix.row_block(1, 2), 1, 1) == 7.0f);
  CHECK(value(matrix.col_block(1, 1), 2, 0) == 7.0f);
  CHECK(matrix.col_block(1, 1).cols == 1);
  const MatrixBuffer floats = to_floats(matrix);
  REQUIRE(floats.rows() == 3);
  REQUIRE(floats.cols() == 2);
  CHECK(floats.view()(2, 1) == 7.0f);
  CHECK(floats.view()(0, 0) == 1.0f);
}

TEST_CASE("stored matrix: numbers of every floating-point type") {
  const std::vector<std::uint16_t> halves = {0x3C00, 0xC000, 0x3555, 0x7BFF, 0x0001, 0x4200};
  const StoredMatrix half(halves.data(), 2, 3, 3, StoredType::kF16);
  CHECK(value(half, 0, 0) == 1.0f);
  CHECK(value(half, 0, 1) == -2.0f);
  CHECK(value(half, 1, 0) == 65504.0f);
  CHECK(value(half.col_block(1, 2).row_block(1, 1), 0, 1) == 3.0f);

  const std::vector<std::uint16_t> brains = {0x3F80, 0xC000, 0x4049, 0x7F7F};
  const StoredMatrix brain(brains.data(), 2, 2, 2, StoredType::kBf16, true);
  CHECK(value(brain, 0, 0) == 1.0f);
  CHECK(value(brain, 1, 0) == -2.0f);
  CHECK(value(brain, 0, 1) == 3.140625f);
  CHECK(value(brain.row_block(1, 1), 0, 0) == -2.0f);

  const std::vector<double> doubles = {1.0, 0.1, -2.5, 1e300};
  const StoredMatrix wide(doubles.data(), 2, 2, 2, StoredType::kF64);
  CHECK(value(wide, 0, 1) == 0.1f);
  CHECK(value(wide.row_block(1, 1), 0, 0) == -2.5f);
  CHECK(value(wide.col_block(1, 1), 0, 0) == 0.1f);
}

}  // namespace attnviz
