#include "attnviz/kernels/products.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/kernels/unpack.h"
#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using test::for_each_target;

struct Shape {
  std::size_t n;
  std::size_t d_in;
  std::size_t d_out;
};

// Around every tile: fewer rows, exactly as many and one more; columns just past each vector width.
// The last ones have longer sums than are packed at a time.
constexpr Shape kShapes[] = {{1, 1, 1},     {1, 64, 33},   {2, 3, 8},     {3, 8, 4},
                             {4, 7, 16},    {5, 15, 17},   {6, 33, 32},   {7, 64, 47},
                             {12, 5, 64},   {13, 64, 65},  {17, 1, 15},   {40, 33, 3},
                             {129, 15, 35}, {28, 300, 70}, {25, 1100, 9}, {3, 4200, 5}};

// Values in a wider storage, so that rows do not lie side by side.
struct StridedValues {
  StridedValues(std::size_t rows, std::size_t cols, std::uint64_t seed)
      : storage(test::random_values(rows * (cols + 5), seed)),
        view{storage.data() + 2, rows, cols, cols + 5} {}
  std::vector<float> storage;
  ConstMatrix view;
};

// Rounding errors grow with the sums, one millionth of the largest being about eight float steps,
// and with the square root of the number of terms added in sequence.
double tolerance(const std::vector<double>& expected, std::size_t d_in) {
  double largest = 1.0;
  for (const double value : expected) {
    largest = std::max(largest, std::abs(value));
  }
  return 1e-6 * largest * std::max(1.0, std::sqrt(static_cast<double>(d_in)) / 8.0);
}

// Weights in some type and layout, at an odd address in a wider storage, and the floats expected
// from them.
struct StoredWeights {
  StoredWeights(std::size_t rows, std::size_t cols, StoredType type, bool transposed)
      : floats(rows * cols) {
    const std::size_t outer = transposed ? cols : rows;
    const std::size_t stride = (transposed ? rows : cols) + 3;
    const std::vector<float> values = test::random_values(outer * stride, 11);
    const std::size_t size = stored_block(type).bytes;
    bytes.resize(1 + outer * stride * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto word = std::bit_cast<std::uint32_t>(values[i]);
      if (type == StoredType::kF16) {  // sign, an exponent around 0, fraction
        word = (word >> 16 & 0x8000u) | 0x3000u | (word & 0xFFFu);
      } else if (type == StoredType::kBf16) {
        word >>= 16;
      }
      std::memcpy(&bytes[1 + i * size], &word, size);
    }
    view = StoredMatrix(bytes.data() + 1 + 2 * size, rows, cols, stride, type, transposed);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < cols; ++c) {
        const std::size_t at = 2 + (transposed ? c * stride + r : r * stride + c);
        std::uint32_t word = 0;
        std::memcpy(&word, &bytes[1 + at * size], size);
        floats[r * cols + c] = type == StoredType::kF32 ? std::bit_cast<float>(word)
                               : type == StoredType::kF16
                                   ? float_from_half(static_cast<std::uint16_t>(word))
                                   : std::bit_cast<float>(word << 16);
      }
    }
  }
  std::vector<char> bytes;
  std::vector<float> floats;  // [rows, cols]
  StoredMatrix view;
};

// Quantised weights, transposed, of random bits at an odd address, and the floats expected from
// them.
struct QuantisedWeights {
  QuantisedWeights(std::size_t row_blocks, std::size_t cols, StoredType type)
      : QuantisedWeights(row_blocks * stored_block(type).numbers, cols,
                         (row_blocks + 1) * stored_block(type).numbers, type) {}

  std::vector<char> bytes;
  StoredMatrix view;
  MatrixBuffer floats;  // [rows, cols]

 private:
  QuantisedWeights(std::size_t rows, std::size_t cols, std::size_t stride, StoredType type)
      : bytes(1 + stored_bytes(type, cols * stride)),
        view(bytes.data() + 1, rows, cols, stride, type, true),
        floats(rows, cols) {
    const BlockShape block = stored_block(type);
    std::mt19937 random(7);
    for (char& byte : bytes) {
      byte = static_cast<char>(random() & 0xFF);
    }
    // Scales small enough for sums: every word at an offset where some type has a half (a block's
    // first, second, last and second to last) becomes a half of about 0.01.
    for (std::size_t at = 1; at < bytes.size(); at += block.bytes) {
      for (const std::size_t offset :
           {std::size_t{0}, std::size_t{2}, block.bytes - 4, block.bytes - 2}) {
        bytes[at + offset + 1] = static_cast<char>((bytes[at + offset + 1] & 0x83) | 0x20);
      }
      if (type == StoredType::kMXFP4) {
        bytes[at] = 120;
      }
      if (type == StoredType::kIQ1_M) {
        bytes[at + 53] = static_cast<char>(bytes[at + 53] & 0x0F);
        bytes[at + 55] = static_cast<char>((bytes[at + 55] & 0x0F) | 0x20);
      }
    }
    for (std::size_t col = 0; col < cols; ++col) {
      std::vector<float> numbers(rows);
      kernels::dequantise(type, &bytes[1 + stored_bytes(type, col * stride)], 0, numbers);
      for (std::size_t row = 0; row < rows; ++row) {
        floats.view()(row, col) = numbers[row];
      }
    }
  }
};

MatrixBuffer absolute(ConstMatrix matrix) {
  MatrixBuffer result(matrix.rows, matrix.cols);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t col = 0; col < matrix.cols; ++col) {
      result.view()(row, col) = std::abs(matrix(row, col));
    }
  }
  return result;
}

// Compares with the floats that w stands for: with their products in doubles, and, unless w is
// multiplied as integers, bit by bit with their products as contiguous floats.
void require_product_of_floats(const Shape& shape, const StoredMatrix& w, ConstMatrix floats) {
  const StridedValues x(shape.n, shape.d_in, 1);
  const std::vector<float> bias = test::random_values(shape.d_out, 3);
  test::PoisonedMatrix expected(shape.n, shape.d_out);
  test::PoisonedMatrix actual(shape.n, shape.d_out);
  const std::vector<double> product = test::naive_matmul(x.view, floats);
  const std::vector<double> magnitude =
      test::naive_matmul(absolute(x.view).view(), absolute(floats).view());
  const auto require_products = [&](double times, double times_bias) {
    std::vector<double> sums = product;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = times * sums[i] + times_bias * static_cast<double>(bias[i % bias.size()]);
    }
    REQUIRE(test::largest_difference(actual.view(), sums) < times * tolerance(magnitude, 1));
    if (!(shape.n == 1 ? kernels::uses_integer_products_for_one_row()
                       : kernels::uses_integer_products())) {
      REQUIRE(test::same_bits(actual.view(), expected.view()));
    }
  };
  kernels::matmul(x.view, floats, bias, expected.view());
  kernels::matmul(x.view, w, bias, actual.view());
  require_products(1, 1);
  kernels::matmul_add(x.view, floats, expected.view());
  kernels::matmul_add(x.view, w, actual.view());
  require_products(2, 1);
  kernels::matmul(x.view, floats, {}, expected.view());
  kernels::matmul(x.view, w, {}, actual.view());
  require_products(1, 0);
  REQUIRE(actual.padding_is_untouched());
}

}  // namespace

TEST_CASE("matmul: every SIMD target agrees with the double-precision reference") {
  for_each_target([&] {
    for (const Shape& shape : kShapes) {
      CAPTURE(shape.n);
      CAPTURE(shape.d_in);
      CAPTURE(shape.d_out);
      const StridedValues x(shape.n, shape.d_in, 1);
      const StridedValues w(shape.d_in, shape.d_out, 2);
      const std::vector<float> bias = test::random_values(shape.d_out, 3);

      test::PoisonedMatrix with_bias(shape.n, shape.d_out);
      kernels::matmul(x.view, w.view, bias, with_bias.view());
      const std::vector<double> biased = test::naive_matmul(x.view, w.view, bias);
      CHECK(test::largest_difference(with_bias.view(), biased) < tolerance(biased, shape.d_in));
      CHECK(with_bias.padding_is_untouched());

      test::PoisonedMatrix without(shape.n, shape.d_out);
      kernels::matmul(x.view, w.view, {}, without.view());
      const std::vector<double> product = test::naive_matmul(x.view, w.view);
      CHECK(test::largest_difference(without.view(), product) < tolerance(product, shape.d_in));
      CHECK(without.padding_is_untouched());

      std::vector<double> doubled = product;
      for (double& value : doubled) {
        value *= 2.0;
      }
      kernels::matmul_add(x.view, w.view, without.view());
      CHECK(test::largest_difference(without.view(), doubled) < tolerance(doubled, shape.d_in));
      CHECK(without.padding_is_untouched());
    }
  });
}

TEST_CASE("matmul: every size from 1 to 130, each way") {
  for_each_target([] {
    for (std::size_t size = 1; size <= 130; ++size) {
      const std::size_t other = 1 + size * 37 % 101;
      CAPTURE(size);
      for (const Shape& shape :
           {Shape{size, other, 9}, Shape{9, size, other}, Shape{13, 5, size}}) {
        const StridedValues x(shape.n, shape.d_in, 1);
        const StridedValues w(shape.d_in, shape.d_out, 2);
        test::PoisonedMatrix out(shape.n, shape.d_out);
        kernels::matmul(x.view, w.view, {}, out.view());
        const std::vector<double> product = test::naive_matmul(x.view, w.view);
        REQUIRE(test::largest_difference(out.view(), product) < tolerance(product, shape.d_in));
        REQUIRE(out.padding_is_untouched());
      }
    }
  });
}

TEST_CASE("matmul: a result is bit-identical alone and among others") {
  constexpr std::size_t kRows = 23;
  constexpr std::size_t kInner = 37;
  constexpr std::size_t kCols = 75;
  const StridedValues x(kRows, kInner, 4);
  const StridedValues w(kInner, kCols, 5);
  for_each_target([&] {
    for (std::size_t count = 2; count <= 5; ++count) {  // few rows take another path
      test::PoisonedMatrix few(count, kCols);
      test::PoisonedMatrix alone(1, kCols);
      kernels::matmul(x.view.row_block(7, count), w.view, {}, few.view());
      kernels::matmul(x.view.row_block(8, 1), w.view, {}, alone.view());
      REQUIRE(test::same_bits(alone.view(), few.view().row_block(1, 1)));
    }
    test::PoisonedMatrix whole(kRows, kCols);
    kernels::matmul(x.view, w.view, {}, whole.view());
    // With AVX2 a single row is multiplied as integers, and more rows are not.
    const bool is_alone_different =
        kernels::uses_integer_products_for_one_row() != kernels::uses_integer_products();
    const std::size_t rows_alone = is_alone_different ? 2 : 1;
    for (std::size_t row = 0; row + rows_alone <= kRows; ++row) {
      test::PoisonedMatrix alone(rows_alone, kCols);
      kernels::matmul(x.view.row_block(row, rows_alone), w.view, {}, alone.view());
      REQUIRE(test::same_bits(alone.view(), whole.view().row_block(row, rows_alone)));
    }
    for (std::size_t col = 0; col < kCols; ++col) {
      test::PoisonedMatrix alone(kRows, 1);
      kernels::matmul(x.view, w.view.col_block(col, 1), {}, alone.view());
      REQUIRE(test::same_bits(alone.view(), whole.view().col_block(col, 1)));
    }
  });
}

TEST_CASE(
    "matmul: adding products one after another is bit-identical to one concatenated product") {
  const StridedValues x(9, 30, 6);
  const StridedValues w(30, 21, 7);
  const std::vector<float> bias = test::random_values(21, 8);
  for_each_target([&] {
    test::PoisonedMatrix whole(9, 21);
    kernels::matmul(x.view, w.view, bias, whole.view());
    test::PoisonedMatrix parts(9, 21);
    kernels::matmul(x.view.col_block(0, 11), w.view.row_block(0, 11), bias, parts.view());
    kernels::matmul_add(x.view.col_block(11, 19), w.view.row_block(11, 19), parts.view());
    CHECK(test::same_bits(parts.view(), whole.view()));
  });
}

TEST_CASE("matmul: weights of every type and layout are bit-identical to the same floats") {
  for_each_target([] {
    for (const StoredType type : {StoredType::kF32, StoredType::kF16, StoredType::kBf16}) {
      for (const bool transposed : {false, true}) {
        for (std::size_t size = 1; size <= 130; ++size) {
          const std::size_t other = 1 + size * 37 % 101;
          CAPTURE(static_cast<int>(type));
          CAPTURE(transposed);
          CAPTURE(size);
          for (const Shape& shape : {Shape{1 + size % 14, size, other}, Shape{4, other, size},
                                     Shape{1, 300 + size, 67}}) {
            const StoredWeights w(shape.d_in, shape.d_out, type, transposed);
            require_product_of_floats(shape, w.view,
                                      test::matrix_over(w.floats, shape.d_in, shape.d_out));
          }
        }
      }
    }
  });
}

TEST_CASE("matmul: every 16-bit value becomes the float that it stands for") {
  const float one = 1.0f;
  for_each_target([&] {
    for (const StoredType type : {StoredType::kF16, StoredType::kBf16}) {
      for (const bool transposed : {false, true}) {
        std::vector<std::uint16_t> bits(65536);
        std::iota(bits.begin(), bits.end(), std::uint16_t{0});
        const StoredMatrix row(bits.data(), 1, 65536, transposed ? 1 : 65536, type, transposed);
        std::vector<float> out(65536, -1.0f);
        kernels::matmul({&one, 1, 1, 1}, row, {}, {out.data(), 1, 65536, 65536});
        for (std::size_t i = 0; i < out.size(); ++i) {
          const float expected =
              type == StoredType::kF16 ? float_from_half(bits[i]) : to_float(BFloat16{bits[i]});
          CAPTURE(i);
          REQUIRE((std::isnan(expected) ? std::isnan(out[i]) : out[i] == expected));
        }
      }
    }
  });
}

TEST_CASE("matmul: quantised weights give the products of the floats that they stand for") {
  // One type with 32 numbers a block and one with 256, with minimums and without, groups of 16.
  constexpr StoredType kTypes[] = {StoredType::kQ4_0, StoredType::kQ5_1, StoredType::kQ6_K,
                                   StoredType::kQ4_K, StoredType::kIQ2_XS};
  for_each_target([&] {
    for (const StoredType type : kTypes) {
      CAPTURE(stored_type_name(type));
      for (std::size_t i = 0; i < 12; ++i) {
        // Around every tile, panel and block.
        const QuantisedWeights w(1 + i % 5, 1 + i * i * 3 % 131, type);
        const std::size_t block = stored_block(type).numbers;
        const std::size_t first = i % 3 == 0 ? 0 : i * 29 % w.view.rows;
        const std::size_t rows =
            i % 4 == 0 ? w.view.rows - first : 1 + (block / 2 + i) % (w.view.rows - first);
        CAPTURE(w.view.cols);
        CAPTURE(first);
        CAPTURE(rows);
        const StoredMatrix part = w.view.row_block(first, rows);
        const ConstMatrix floats = w.floats.view().row_block(first, rows);
        for (const std::size_t n : {std::size_t{1}, 3 + i * 5}) {
          require_product_of_floats({n, rows, w.view.cols}, part, floats);
        }
      }
    }
  });
}

TEST_CASE("matmul: quantised weights of every type, in longer sums and more rows than are packed") {
  for_each_target([&] {
    for (auto type = StoredType::kQ4_0; type <= kLastStoredType;
         type = static_cast<StoredType>(static_cast<int>(type) + 1)) {
      CAPTURE(stored_type_name(type));
      const bool is_small = stored_block(type).numbers == 32;
      const QuantisedWeights w(is_small ? 35 : 5, 33, type);
      const StoredMatrix part = w.view.row_block(is_small ? 31 : 250, 1001);
      const ConstMatrix floats = w.floats.view().row_block(is_small ? 31 : 250, 1001);
      require_product_of_floats({13, 1001, 33}, part, floats);
    }
    const QuantisedWeights w(20, 70, StoredType::kQ4_K);  // longer sums than any panel holds
    require_product_of_floats({400, 5120, 70}, w.view, w.floats.view());
    require_product_of_floats({2, 5120, 70}, w.view, w.floats.view());
  });
}

TEST_CASE("matmul: with quantised weights, a result is bit-identical alone and among others") {
  constexpr std::size_t kRows = 15;
  constexpr std::size_t kCols = 75;
  const QuantisedWeights w(2, kCols, StoredType::kQ5_K);
  const StridedValues x(kRows, 512, 4);
  for_each_target([&] {
    test::PoisonedMatrix whole(kRows, kCols);
    kernels::matmul(x.view, w.view, {}, whole.view());
    // With AVX2 a single row is multiplied as integers, and more rows are not.
    const bool is_alone_different =
        kernels::uses_integer_products_for_one_row() != kernels::uses_integer_products();
    const std::size_t rows_alone = is_alone_different ? 2 : 1;
    for (std::size_t row = 0; row + rows_alone <= kRows; ++row) {
      test::PoisonedMatrix alone(rows_alone, kCols);
      kernels::matmul(x.view.row_block(row, rows_alone), w.view, {}, alone.view());
      REQUIRE(test::same_bits(alone.view(), whole.view().row_block(row, rows_alone)));
    }
    for (std::size_t col = 0; col < kCols; ++col) {
      test::PoisonedMatrix alone(kRows, 1);
      kernels::matmul(x.view, w.view.col_block(col, 1), {}, alone.view());
      REQUIRE(test::same_bits(alone.view(), whole.view().col_block(col, 1)));
    }
    // In parts, the second of which begins within a block, or with a group where activations of a
    // group share a unit.
    const std::size_t first = kernels::uses_integer_products() ? 96 : 100;
    test::PoisonedMatrix parts(kRows, kCols);
    kernels::matmul(x.view.col_block(0, first), w.view.row_block(0, first), {}, parts.view());
    kernels::matmul_add(x.view.col_block(first, 512 - first), w.view.row_block(first, 512 - first),
                        parts.view());
    REQUIRE(test::same_bits(parts.view(), whole.view()));
  });
}

TEST_CASE("matmul: no rows, no columns and nothing to sum over are fine") {
  const std::vector<float> values(8, 1.0f);
  const std::vector<float> bias = {5.0f, 6.0f};
  float out[] = {-1.0f, -1.0f};
  kernels::matmul({values.data(), 0, 4, 4}, {values.data(), 4, 2, 2}, {}, {out, 0, 2, 2});
  kernels::matmul({values.data(), 2, 4, 4}, {values.data(), 4, 0, 0}, {}, {out, 2, 0, 0});
  CHECK(out[0] == -1.0f);
  kernels::matmul({values.data(), 1, 0, 0}, {values.data(), 0, 2, 2}, bias, {out, 1, 2, 2});
  CHECK(out[0] == 5.0f);
  CHECK(out[1] == 6.0f);
  const StoredMatrix turned(values.data(), 0, 2, 3, StoredType::kF32, true);
  std::vector<float> many(40, -1.0f);
  kernels::matmul({values.data(), 20, 0, 0}, turned, bias, {many.data(), 20, 2, 2});
  CHECK(many[38] == 5.0f);
  CHECK(many[39] == 6.0f);
}

TEST_CASE("add: sums element by element and touches nothing else") {
  for_each_target([&] {
    const StridedValues x(3, 37, 9);
    test::PoisonedMatrix out(3, 37);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 37; ++c) {
        out.view()(r, c) = 0.25f;
      }
    }
    kernels::add(x.view, out.view());
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 37; ++c) {
        REQUIRE(out.view()(r, c) == x.view(r, c) + 0.25f);
      }
    }
    CHECK(out.padding_is_untouched());
  });
}

}  // namespace attnviz
