#include "attnviz/core/tensor.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("checked_product: sizes that overflow are a usage error, a zero is not") {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  CHECK(checked_product({3, 4, 5}, "x") == 60);
  CHECK(checked_product({kHuge, 0, kHuge}, "x") == 0);
  CHECK_THROWS_WITH_AS(checked_product({kHuge, 2}, "pattern"),
                       "pattern: the size is too large to count", Error);
}

TEST_CASE("MatrixBuffer: zeroed, aligned to 64 bytes, and views survive a move") {
  MatrixBuffer buffer(3, 5);
  const Matrix view = buffer.view();
  CHECK(reinterpret_cast<std::uintptr_t>(view.data) % 64 == 0);
  for (std::size_t i = 0; i < 15; ++i) {
    CHECK(view.data[i] == 0.0f);
  }
  view(2, 4) = 7.0f;
  const MatrixBuffer moved = std::move(buffer);
  CHECK(moved.view().data == view.data);
  CHECK(moved.view()(2, 4) == 7.0f);
}

TEST_CASE(
    "shaped: existing memory is reused where the new size fits, and released with the matrix") {
  MatrixBuffer kept;
  const float* const data = shaped(kept, 4, 6).data;
  const Matrix smaller = shaped(kept, 2, 3);
  CHECK(smaller.data == data);
  CHECK(smaller.rows == 2);
  CHECK(smaller.cols == 3);
  CHECK(smaller.stride == 3);
  CHECK(kept.rows() == 2);
  CHECK(shaped(kept, 6, 4).data == data);
  const Matrix larger = shaped(kept, 5, 5);
  larger(4, 4) = 1.0f;
  const MatrixBuffer taken = std::exchange(kept, {});
  CHECK(taken.view()(4, 4) == 1.0f);
  CHECK(shaped(kept, 1, 1).data != taken.view().data);
}

TEST_CASE("MatrixBuffer: more memory than available is an error") {
  try {
    const MatrixBuffer too_large(std::size_t{1} << 40, std::size_t{1} << 10);
    FAIL("a petabyte was granted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kIo);
  }
}

TEST_CASE("row and column blocks view the same numbers") {
  MatrixBuffer buffer(4, 6);
  buffer.view()(2, 3) = 1.0f;
  const ConstMatrix rows = std::as_const(buffer).view().row_block(2, 2);
  CHECK(rows.rows == 2);
  CHECK(rows(0, 3) == 1.0f);
  const ConstMatrix cols = rows.col_block(3, 2);
  CHECK(cols.cols == 2);
  CHECK(cols(0, 0) == 1.0f);
}

}  // namespace attnviz
