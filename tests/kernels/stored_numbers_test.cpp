#include "attnviz/kernels/stored_numbers.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/naive.h"

namespace attnviz {

using test::value;

TEST_CASE("stored numbers: floats are viewed as a matrix directly") {
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

TEST_CASE("stored numbers: numbers at an odd address are the same, but not viewed as a matrix") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::vector<char> bytes(1 + values.size() * sizeof(float));
  std::memcpy(&bytes[1], values.data(), values.size() * sizeof(float));
  const StoredMatrix matrix(&bytes[1], 2, 3, 3);
  CHECK(!matrix.is_floats());
  CHECK(value(matrix, 1, 1) == 5.0f);
  CHECK(to_floats(matrix).view()(1, 2) == 6.0f);
}

TEST_CASE("stored numbers: a transposed matrix is read down its storage's columns") {
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

TEST_CASE("stored numbers: numbers of every floating-point type") {
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

TEST_CASE("stored numbers: quantised ones, each way") {
  // Eighteen rows of two blocks of Q8_0: a scale of 2^-4, numbers i + 3 row for the first of them
  // and -i - row for the second.
  constexpr std::size_t kRows = 18;
  std::vector<char> bytes(1 + kRows * 2 * 34);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < 64; ++i) {
      char* const block = &bytes[1 + (2 * row + i / 32) * 34];
      block[1] = 0x2C;
      const auto sum = static_cast<int>(i < 32 ? i + 3 * row : i % 32 + row);
      block[2 + i % 32] = static_cast<char>(i < 32 ? sum : -sum);
    }
  }
  const auto expected = [](std::size_t row, std::size_t i) {
    return i < 32 ? static_cast<float>(i + 3 * row) / 16.0f
                  : -static_cast<float>(i - 32 + row) / 16.0f;
  };
  const StoredMatrix table(&bytes[1], kRows, 64, 64, StoredType::kQ8_0);
  const StoredMatrix turned(&bytes[1], 64, kRows, 64, StoredType::kQ8_0, true);
  const MatrixBuffer floats = to_floats(turned.row_block(1, 50));
  REQUIRE(floats.rows() == 50);
  REQUIRE(floats.cols() == kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < 64; ++i) {
      CAPTURE(row);
      CAPTURE(i);
      REQUIRE(value(table, row, i) == expected(row, i));
      REQUIRE(value(turned, i, row) == expected(row, i));
      if (i >= 1 && i < 51) {
        REQUIRE(floats.view()(i - 1, row) == expected(row, i));
      }
    }
  }
  std::vector<float> across(7);
  copy_row(turned.row_block(33, 31).col_block(2, 7), 4, across);
  CHECK(across[0] == expected(2, 37));
  CHECK(across[6] == expected(8, 37));
  std::vector<float> along(40);
  copy_row(table.col_block(20, 40), 17, along);
  CHECK(along[0] == expected(17, 20));
  CHECK(along[12] == expected(17, 32));
  CHECK(along[39] == expected(17, 59));
  const MatrixBuffer part = to_floats(table.col_block(20, 40).row_block(17, 1));
  CHECK(part.view()(0, 39) == expected(17, 59));
}

}  // namespace attnviz
