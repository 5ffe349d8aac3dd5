#include "attnviz/attention/blocked_product.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attnviz/kernels/simd.h"
#include "support/naive.h"

namespace attnviz {

namespace {

// Q8_0: blocks of a 16-bit scale, here 2^-7, and 32 signed integers; and the numbers it stands for.
struct SmallIntegers {
  SmallIntegers(std::size_t d_in, std::size_t d_out)
      : bytes(stored_bytes(StoredType::kQ8_0, d_in * d_out)),
        floats(d_in, d_out),
        projection{{bytes.data(), d_in, d_out, d_in, StoredType::kQ8_0, true}, {}} {
    const std::uint16_t scale = 0x2000;
    for (std::size_t col = 0; col < d_out; ++col) {
      for (std::size_t row = 0; row < d_in; ++row) {
        const auto quant = static_cast<std::int8_t>((row * 31 + col * 17) % 255 - 127);
        std::uint8_t* const block = bytes.data() + (col * d_in + row) / 32 * 34;
        std::memcpy(block, &scale, sizeof(scale));
        block[2 + row % 32] = std::bit_cast<std::uint8_t>(quant);
        floats.view()(row, col) = static_cast<float>(quant) / 128.0f;
      }
    }
  }

  std::vector<std::uint8_t> bytes;
  MatrixBuffer floats;
  Projection projection;
};

}  // namespace

TEST_CASE(
    "blocked_product: with quantised weights, bits depend neither on threads nor on other rows") {
  constexpr std::size_t kDepth = 512;
  constexpr std::size_t kCols = 1000;
  const SmallIntegers weights(kDepth, kCols);
  const std::vector<float> numbers = test::random_values(200 * kDepth, 3);
  const ConstMatrix x = test::matrix_over(numbers, 200, kDepth);
  MatrixBuffer all(200, kCols);
  blocked_product(x, weights.projection, 1, all.view());
  const std::vector<double> expected = test::naive_matmul(x, weights.floats.view());
  CHECK(test::largest_difference(all.view(), expected) < 1e-4);
  // With AVX2 a single row is multiplied as integers, and more rows are not.
  const bool is_one_row_different =
      kernels::uses_integer_products_for_one_row() != kernels::uses_integer_products();
  MatrixBuffer one(1, kCols);
  blocked_product(x.row_block(0, 1), weights.projection, 1, one.view());
  const std::vector<double> first_row(expected.begin(), expected.begin() + kCols);
  for (const std::size_t rows : {1u, 2u, 16u, 17u, 200u}) {
    for (const std::size_t threads : {1u, 2u, 3u, 8u}) {
      CAPTURE(rows);
      CAPTURE(threads);
      MatrixBuffer out(rows, kCols);
      blocked_product(x.row_block(0, rows), weights.projection, threads, out.view());
      if (rows == 1 && is_one_row_different) {
        CHECK(test::same_bits(out.view(), one.view()));
        CHECK(test::largest_difference(out.view(), first_row) < 1e-4);
      } else {
        CHECK(test::same_bits(out.view(), all.view().row_block(0, rows)));
      }
      blocked_product_add(x.row_block(0, rows), weights.projection, threads, out.view());
      CHECK(out.view()(rows - 1, kCols - 1) ==
            doctest::Approx(2 * expected[rows * kCols - 1]).epsilon(1e-5));
    }
  }
}

TEST_CASE("for_each_block: blocks of any size cover every number once") {
  constexpr std::size_t kWorthThreads = std::size_t{1} << 24;
  for (const bool is_quantised : {false, true}) {
    for (const std::size_t threads : {1u, 2u, 3u}) {
      for (const std::size_t rows : {1u, 16u, 193u, 500u}) {
        for (const std::size_t cols : {1u, 192u, 193u, 2048u, 5000u}) {
          std::vector<int> seen(rows * cols);
          for_each_block(
              rows, cols, kWorthThreads, threads,
              [&](const OutputBlock& block) {
                for (std::size_t row = 0; row < block.n_rows; ++row) {
                  for (std::size_t col = 0; col < block.n_cols; ++col) {
                    ++seen[(block.first_row + row) * cols + block.first_col + col];
                  }
                }
              },
              is_quantised);
          CHECK(seen == std::vector<int>(rows * cols, 1));
        }
      }
    }
  }
}

}  // namespace attnviz
