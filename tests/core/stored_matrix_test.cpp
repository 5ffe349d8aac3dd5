#include <doctest/doctest.h>

#include <vector>

#include "attnviz/core/stored_matrix.h"

namespace attnviz {

TEST_CASE("stored matrix: floats are viewed as a matrix directly") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const ConstMatrix floats{values.data(), 2, 3, 4};
  const StoredMatrix matrix = floats;
  CHECK(matrix.is_floats());
  CHECK(!matrix.empty());
  CHECK(StoredMatrix().empty());
  CHECK(matrix.as_floats().data == floats.data);
  CHECK(matrix.as_floats().stride == 4);
  CHECK(matrix == StoredMatrix(floats));
  CHECK(matrix.row_block(1, 1) != matrix);
  CHECK(matrix.row_block(0, 2) == matrix);
}

TEST_CASE("stored matrix: blocks of rows and columns begin at their first number") {
  const std::vector<char> bytes(1000);
  const char* const data = bytes.data();
  for (const bool transposed : {false, true}) {
    const StoredMatrix matrix(data + 1, 6, 7, 10, StoredType::kF16, transposed);
    const StoredMatrix rows = matrix.row_block(2, 3);
    CHECK(rows.data == data + 1 + 2 * (transposed ? 2 : 20));
    CHECK(rows.rows == 3);
    CHECK(rows.cols == 7);
    const StoredMatrix cols = rows.col_block(4, 2);
    CHECK(cols.data == data + 1 + 2 * (transposed ? 2 + 40 : 20 + 4));
    CHECK(cols.rows == 3);
    CHECK(cols.cols == 2);
    CHECK(cols.stride == 10);
    CHECK(cols.skip == 0);
    CHECK(cols.transposed == transposed);
  }
}

TEST_CASE("stored matrix: rows of quantised weights may begin within a block") {
  const std::vector<char> bytes(10 * 3 * 18);
  const char* const data = bytes.data();
  // Ten outputs of 96 inputs: three blocks of 32 numbers in 18 bytes each.
  const StoredMatrix matrix(data, 96, 10, 96, StoredType::kQ4_0, true);
  CHECK(matrix.skip == 0);
  const StoredMatrix second = matrix.row_block(32, 64);
  CHECK(second.data == data + 18);
  CHECK(second.skip == 0);
  const StoredMatrix within = matrix.row_block(40, 50);
  CHECK(within.data == data + 18);
  CHECK(within.skip == 8);
  const StoredMatrix further = within.row_block(30, 5);  // from number 70 on
  CHECK(further.data == data + 36);
  CHECK(further.skip == 6);
  CHECK(further.rows == 5);
  const StoredMatrix col = further.col_block(4, 1);
  CHECK(col.data == data + 36 + 4 * 54);
  CHECK(col.skip == 6);
  CHECK(col.stride == 96);
  CHECK(within != second);
}

TEST_CASE("stored matrix: columns of a quantised table may begin within a block") {
  const std::vector<char> bytes(4 * 2 * 18);
  const StoredMatrix table(bytes.data(), 4, 64, 64, StoredType::kQ4_0);
  const StoredMatrix part = table.row_block(2, 1).col_block(33, 31);
  CHECK(part.data == bytes.data() + 2 * 36 + 18);
  CHECK(part.skip == 1);
  CHECK(part.cols == 31);
}

TEST_CASE("stored types: names are those of safetensors files, sizes are bytes") {
  CHECK(stored_type_name(StoredType::kF8E4M3) == "F8_E4M3");
  CHECK(stored_block(StoredType::kF8E5M2).bytes == 1);
  CHECK(stored_type_name(StoredType::kBf16) == "BF16");
  CHECK(stored_block(StoredType::kBf16).bytes == 2);
  CHECK(stored_block(StoredType::kF32).bytes == 4);
  CHECK(stored_block(StoredType::kF64).bytes == 8);
  CHECK(stored_type_name(StoredType::kBool) == "BOOL");
  CHECK(stored_block(StoredType::kBool).bytes == 1);
}

TEST_CASE("stored types: quantised numbers come in blocks, others singly") {
  CHECK(stored_type_name(StoredType::kQ4_K) == "Q4_K");
  CHECK(stored_block(StoredType::kQ4_K).numbers == 256);
  CHECK(stored_block(StoredType::kQ4_K).bytes == 144);
  CHECK(stored_block(StoredType::kMXFP4).numbers == 32);
  CHECK(stored_block(StoredType::kMXFP4).bytes == 17);
  CHECK(stored_bytes(StoredType::kQ8_0, 64) == 68);
  CHECK(stored_bytes(StoredType::kBf16, 64) == 128);
  CHECK(stored_bytes(StoredType::kIQ1_S, 0) == 0);
  for (int i = 0; i <= static_cast<int>(kLastStoredType); ++i) {
    const auto type = static_cast<StoredType>(i);
    CAPTURE(stored_type_name(type));
    const BlockShape block = stored_block(type);
    CHECK(is_quantised(type) == (type >= StoredType::kQ4_0));
    CHECK(is_quantised(type) == (block.numbers == 32 || block.numbers == 256));
    CHECK(is_quantised(type) == (block.numbers != 1));
    // From 1.5 to 8.5 bits per number.
    CHECK((!is_quantised(type) ||
           (16 * block.bytes >= 3 * block.numbers && 16 * block.bytes <= 17 * block.numbers)));
  }
}

TEST_CASE("stored types: each is found by its name, and no other") {
  for (int i = 0; i <= static_cast<int>(kLastStoredType); ++i) {
    const auto type = static_cast<StoredType>(i);
    CHECK(stored_type_named(stored_type_name(type)) == type);
  }
  CHECK(!stored_type_named("f32"));
  CHECK(!stored_type_named(""));
  CHECK(!stored_type_named("F4"));
}

}  // namespace attnviz
