#include "attnviz/kernels/products.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/core/random_bits.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/kernels/unpack.h"
#include "support/naive.h"

namespace attnviz {

namespace {

constexpr std::size_t kBlock = 32;

// Q8_0: a 16-bit scale, then 32 bytes. Column c's number k is scale * quant(c, k).
struct Columns {
  template <class Quant>
  Columns(std::size_t n_cols, std::size_t depth, std::uint16_t scale, const Quant& quant)
      : bytes(n_cols * depth / kBlock * 34),
        view(bytes.data(), depth, n_cols, depth, StoredType::kQ8_0, true) {
    std::uint8_t* to = bytes.data();
    for (std::size_t c = 0; c < n_cols; ++c) {
      for (std::size_t k = 0; k < depth; ++k) {
        if (k % kBlock == 0) {
          std::memcpy(to, &scale, 2);
          to += 2;
        }
        *to++ = static_cast<std::uint8_t>(quant(c, k));
      }
    }
  }
  std::vector<std::uint8_t> bytes;
  StoredMatrix view;
};

constexpr std::uint16_t kOne = 0x3C00;

bool cannot_run() {
  if (!kernels::has_integer_products()) {
    MESSAGE("SKIPPED: the processor has no AVX-512 VNNI");
  }
  return !kernels::has_integer_products();
}

// Runs a check on every SIMD target that multiplies a single row by quantised weights as integers.
void for_each_integer_target(const auto& check) {
  bool has_any = false;
  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    if (kernels::uses_integer_products_for_one_row()) {
      has_any = true;
      CAPTURE(target);
      check();
    }
  }
  if (!has_any) {
    MESSAGE("SKIPPED: the processor has neither AVX2 nor AVX-512 VNNI");
  }
}

// The product of a single row.
std::vector<float> product(const std::vector<float>& x, const StoredMatrix& w) {
  std::vector<float> out(w.cols);
  kernels::matmul({x.data(), 1, w.rows, w.rows}, w, {}, {out.data(), 1, w.cols, w.cols});
  return out;
}

// Weights with `numbers` quantised numbers. Any bytes are valid quants, and scales have any sign;
// halves that are not small would hide the sums' last bits.
std::vector<std::uint8_t> random_blocks(StoredType type, std::size_t numbers) {
  std::vector<std::uint8_t> bytes(stored_bytes(type, numbers));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(RandomBits({7, i})[0] & 0xBF);
  }
  return bytes;
}

std::vector<float> products(const float* x, std::size_t rows, const StoredMatrix& w) {
  std::vector<float> out(rows * w.cols);
  kernels::integer_matmul({x, rows, w.rows, w.rows}, w, nullptr, false,
                          {out.data(), rows, w.cols, w.cols});
  return out;
}

struct ExactProduct {
  double sum = 0.0;
  double magnitude = 0.0;  // of its terms
};

ExactProduct exact_product(const float* x, const StoredMatrix& w, std::size_t col) {
  std::vector<float> weights(w.rows);
  kernels::dequantise(w.type, w.data, col * w.stride, weights);
  ExactProduct exact;
  for (std::size_t k = 0; k < w.rows; ++k) {
    const double term = static_cast<double>(x[k]) * weights[k];
    exact.sum += term;
    exact.magnitude += std::abs(term);
  }
  return exact;
}

int signed_quant(std::size_t c, std::size_t k) {
  return static_cast<int>((c * 37 + k * 101) % 256) - 128;
}

}  // namespace

TEST_CASE("integer products: activations that are multiples of a unit give exact sums") {
  // Integers of up to 2^22 times quants of every value: a double holds sums of 64 exactly, and a
  // float nearly, as each group is rounded once.
  constexpr std::size_t kDepth = 64;
  const Columns w(35, kDepth, kOne, signed_quant);
  std::vector<float> x(kDepth);
  for (std::size_t k = 0; k < kDepth; ++k) {
    x[k] = static_cast<float>((k * 2654435761u) % 4194304u) * (k % 3 == 0 ? -1.0f : 1.0f);
  }
  std::vector<float> small = x;  // small integers leave nothing to round
  for (float& number : small) {
    number = std::fmod(number, 100.0f);
  }
  for_each_integer_target([&] {
    const std::vector<float> out = product(x, w.view);
    const std::vector<float> of_small = product(small, w.view);
    for (std::size_t c = 0; c < 35; ++c) {
      double sum = 0.0;
      double magnitude = 0.0;
      int small_sum = 0;
      for (std::size_t k = 0; k < kDepth; ++k) {
        const double term = static_cast<double>(x[k]) * signed_quant(c, k);
        sum += term;
        magnitude += std::abs(term);
        small_sum += static_cast<int>(small[k]) * signed_quant(c, k);
      }
      CAPTURE(c);
      CHECK(std::abs(out[c] - sum) <= 0x1p-23 * magnitude);
      CHECK(of_small[c] == static_cast<float>(small_sum));
    }
  });
}

TEST_CASE("integer products: the largest digits and sums of digits fit") {
  for_each_integer_target([] {
    for (const int quant : {-128, 127}) {
      const Columns w(32, kBlock, kOne, [quant](std::size_t, std::size_t) { return quant; });
      for (const float value : {1.0f, -1.0f, 1.9843749f, 1.984375f, 1.992f, 1.9999999f, -1.9999999f,
                                3.4e38f / 128, 1e-36f}) {
        const std::vector<float> out = product(std::vector<float>(kBlock, value), w.view);
        const double expected = 32.0 * quant * static_cast<double>(value);
        CAPTURE(quant);
        CAPTURE(value);
        if (std::abs(expected) < static_cast<double>(std::numeric_limits<float>::max())) {
          // A unit is a float of full precision, 2^-126 at least.
          CHECK(std::abs(out[17] - expected) <=
                0x1p-22 * std::abs(expected) + 32.0 * std::abs(quant) * 0x1p-127);
        } else {
          CHECK(std::isinf(out[17]));
        }
      }
    }
  });
}

TEST_CASE("integer products: errors are small compared with a group's largest activation") {
  // One activation in 32 is ten thousand times the others, in every other group.
  constexpr std::size_t kDepth = 512;
  std::vector<float> x = test::random_values(kDepth, 5);
  for (std::size_t k = 0; k < kDepth; k += 64) {
    x[k + 7] = 10000.0f;
  }
  const Columns w(32, kDepth, 0x1C00, signed_quant);  // 2^-8
  for_each_integer_target([&] {
    const std::vector<float> out = product(x, w.view);
    for (std::size_t c = 0; c < 32; ++c) {
      double sum = 0.0;
      double largest = 0.0;
      for (std::size_t k = 0; k < kDepth; ++k) {
        const double weight = signed_quant(c, k) / 256.0;
        sum += static_cast<double>(x[k]) * weight;
        largest += std::abs(weight) * (k / 32 % 2 == 0 ? 10000.0 : 1.0);
      }
      CHECK(std::abs(out[c] - sum) <= 0x1p-22 * largest);
    }
  });
}

TEST_CASE("integer products: a single row is as near the exact sums as floats are, for any type") {
  // More numbers than are converted at once, followed by some that are not multiplied.
  constexpr std::size_t kCols = 19;
  constexpr std::size_t kDepth = 4096 + 768;
  constexpr std::size_t kStride = kDepth + 256;
  const std::vector<float> x = test::random_values(kDepth, 5);
  for (auto type = static_cast<int>(StoredType::kQ4_0); type <= static_cast<int>(kLastStoredType);
       ++type) {
    const auto stored = static_cast<StoredType>(type);
    CAPTURE(stored_type_name(stored));
    const std::vector<std::uint8_t> bytes = random_blocks(stored, kStride * kCols);
    const StoredMatrix w(bytes.data(), kDepth, kCols, kStride, stored, true);
    for_each_integer_target([&] {
      const std::vector<float> out = product(x, w);
      for (std::size_t col = 0; col < kCols; ++col) {
        const ExactProduct exact = exact_product(x.data(), w, col);
        CAPTURE(col);
        if (std::isfinite(exact.sum)) {
          CHECK(std::abs(out[col] - exact.sum) <= 4e-6 * exact.magnitude);
        }
      }
    });
  }
}

TEST_CASE("integer products: a single row with the largest digits and any type's largest quants") {
  // 0 or 255 in all bytes that hold quants. The other bytes are scales, all positive.
  struct Extreme {
    StoredType type;
    std::size_t first;
    std::size_t count;
  };
  constexpr Extreme kExtremes[] = {{StoredType::kQ4_0, 2, 16},   {StoredType::kQ5_0, 2, 20},
                                   {StoredType::kQ5_K, 16, 160}, {StoredType::kQ4_K, 16, 128},
                                   {StoredType::kQ6_K, 0, 192},  {StoredType::kQ3_K, 0, 96},
                                   {StoredType::kQ2_K, 16, 64},  {StoredType::kIQ4_XS, 8, 128}};
  for (const Extreme extreme : kExtremes) {
    const auto [numbers, block] = stored_block(extreme.type);
    for (const std::uint8_t quants : {std::uint8_t{0}, std::uint8_t{255}}) {
      std::vector<std::uint8_t> bytes(block, 0x3B);
      std::fill_n(bytes.data() + extreme.first, extreme.count, quants);
      const StoredMatrix w(bytes.data(), numbers, 1, numbers, extreme.type, true);
      for (const float value : {0x1.FBFFFCp0f, -0x1.FBFFFCp0f, 0x1.F9FDFCp0f, -0x1.F9FDFCp0f}) {
        const std::vector<float> x(numbers, value);
        const ExactProduct exact = exact_product(x.data(), w, 0);
        CAPTURE(stored_type_name(extreme.type));
        for_each_integer_target(
            [&] { CHECK(std::abs(product(x, w)[0] - exact.sum) <= 1e-6 * exact.magnitude); });
      }
    }
  }
}

TEST_CASE(
    "integer products: one row alone is bit-identical to the row among others, for any type") {
  if (cannot_run()) {
    return;
  }
  constexpr std::size_t kRows = 3;
  constexpr std::size_t kCols = 70;  // two panels and a part of one
  constexpr std::size_t kDepth = 768;
  for (auto type = static_cast<int>(StoredType::kQ4_0); type <= static_cast<int>(kLastStoredType);
       ++type) {
    const auto stored = static_cast<StoredType>(type);
    CAPTURE(stored_type_name(stored));
    const std::vector<std::uint8_t> bytes = random_blocks(stored, kDepth * kCols);
    const BlockShape block = kernels::unpacker(stored).block;
    REQUIRE(bytes.size() == kCols * kDepth / block.numbers * block.bytes);
    const StoredMatrix w(bytes.data(), kDepth, kCols, kDepth, stored, true);
    const std::vector<float> x = test::random_values(kRows * kDepth, 5);
    const std::vector<float> all = products(x.data(), kRows, w);
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::vector<float> one = products(x.data() + row * kDepth, 1, w);
      CHECK(test::same_bits({one.data(), 1, kCols, kCols},
                            {all.data() + row * kCols, 1, kCols, kCols}));
      for (std::size_t col = 0; col < kCols; ++col) {
        const ExactProduct exact = exact_product(x.data() + row * kDepth, w, col);
        CAPTURE(col);
        if (std::isfinite(exact.sum)) {
          CHECK(std::abs(one[col] - exact.sum) <= 4e-6 * exact.magnitude);
        }
      }
    }
  }
}

TEST_CASE(
    "integer products: one row alone is bit-identical to the row among others, for the largest "
    "sums") {
  if (cannot_run()) {
    return;
  }
  // Blocks whose quants all have the same value, the largest or the least: bytes [first, first +
  // count) of a block. The other bytes are scales, all positive.
  struct Extreme {
    StoredType type;
    std::size_t first;
    std::size_t count;
  };
  constexpr std::size_t kCols = 32;
  constexpr std::size_t kDepth = 256;
  for (const Extreme extreme : {Extreme{StoredType::kQ4_K, 16, 128}, {StoredType::kQ6_K, 0, 192}}) {
    const std::size_t block = kernels::unpacker(extreme.type).block.bytes;
    for (const std::uint8_t quants : {std::uint8_t{0}, std::uint8_t{255}}) {
      std::vector<std::uint8_t> bytes(kCols * block, 0x3B);
      for (std::size_t col = 0; col < kCols; ++col) {
        std::fill_n(bytes.data() + col * block + extreme.first, extreme.count, quants);
      }
      const StoredMatrix w(bytes.data(), kDepth, kCols, kDepth, extreme.type, true);
      // The largest ones that do not need a larger unit, and those with the largest last two
      // digits.
      for (const float value : {0x1.FBFFFCp0f, -0x1.FBFFFCp0f, 0x1.F9FDFCp0f, -0x1.F9FDFCp0f}) {
        const std::vector<float> x(2 * kDepth, value);
        const std::vector<float> one = products(x.data(), 1, w);
        const std::vector<float> two = products(x.data(), 2, w);
        CAPTURE(stored_type_name(extreme.type));
        CHECK(test::same_bits({one.data(), 1, kCols, kCols}, {two.data(), 1, kCols, kCols}));
        const ExactProduct exact = exact_product(x.data(), w, 0);
        CHECK(std::abs(one[0] - exact.sum) <= 1e-6 * std::abs(exact.sum));
      }
    }
  }
}

TEST_CASE(
    "integer products: one row alone is bit-identical to the row among others, for long rows") {
  if (cannot_run()) {
    return;
  }
  // More numbers than are processed at once, followed by a block that is not multiplied.
  constexpr std::size_t kCols = 80;
  constexpr std::size_t kDepth = 8192 + 768;
  constexpr std::size_t kStride = kDepth + 256;
  const std::vector<float> x = test::random_values(2 * kDepth, 5);
  for (const StoredType type : {StoredType::kQ4_K, StoredType::kQ6_K}) {
    CAPTURE(stored_type_name(type));
    const std::vector<std::uint8_t> bytes = random_blocks(type, kStride * kCols);
    const StoredMatrix w(bytes.data(), kDepth, kCols, kStride, type, true);
    const std::vector<float> one = products(x.data(), 1, w);
    const std::vector<float> two = products(x.data(), 2, w);
    CHECK(test::same_bits({one.data(), 1, kCols, kCols}, {two.data(), 1, kCols, kCols}));
    for (const std::size_t col : {std::size_t{0}, kCols / 2, kCols - 1}) {
      const ExactProduct exact = exact_product(x.data(), w, col);
      CHECK(std::abs(one[col] - exact.sum) <= 1e-6 * exact.magnitude);
    }
  }
}

TEST_CASE("integer products: numbers that are not finite stay so, and only within their row") {
  if (cannot_run()) {
    return;
  }
  const Columns w(40, 64, kOne, signed_quant);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    std::vector<float> x(std::size_t{5} * 64, 0.5f);
    std::fill_n(x.begin() + std::ptrdiff_t{64} * 2, 64, 0.0f);
    x[64 * 2 + 50] = bad;
    std::vector<float> out(std::size_t{5} * 40);
    kernels::integer_matmul({x.data(), 5, 64, 64}, w.view, nullptr, false, {out.data(), 5, 40, 40});
    for (std::size_t i = 0; i < out.size(); ++i) {
      CAPTURE(i);
      CHECK(std::isfinite(out[i]) == (i / 40 != 2));
    }
  }
}

TEST_CASE("integer products: a single row with a number that is not finite gives NaN") {
  constexpr std::size_t kDepth = 512;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x(kDepth);
    x[300] = bad;
    for (const StoredType type : {StoredType::kQ4_K, StoredType::kQ6_K, StoredType::kQ8_0}) {
      CAPTURE(stored_type_name(type));
      const std::vector<std::uint8_t> bytes(stored_bytes(type, kDepth * 32), 0x3B);
      for_each_integer_target([&] {
        const std::vector<float> out = product(x, {bytes.data(), kDepth, 32, kDepth, type, true});
        CHECK(std::isnan(out[0]));
        CHECK(std::isnan(out[31]));
      });
    }
  }
}

TEST_CASE("integer products: zeros and numbers near the smallest give sums near zero") {
  const Columns w(32, kBlock, kOne, signed_quant);
  for_each_integer_target([&] {
    for (const float value : {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), 1e-40f}) {
      const std::vector<float> x(kBlock, value);
      const std::vector<float> bias(32, 3.0f);
      std::vector<float> out(32);
      kernels::matmul({x.data(), 1, kBlock, kBlock}, w.view, bias, {out.data(), 1, 32, 32});
      CHECK(out[3] == 3.0f);
    }
  });
}

#if defined(__x86_64__)
TEST_CASE("integer products: available wherever the compiler's library finds the instructions") {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
  CHECK(kernels::has_integer_products() == has);
}
#endif

TEST_CASE("integer products: only where the target is avx3_vnni") {
  if (cannot_run()) {
    return;
  }
  CHECK(kernels::simd_targets().front() == "avx3_vnni");
  CHECK(kernels::active_simd_target() == "avx3_vnni");
  CHECK(kernels::uses_integer_products());
  {
    const kernels::ScopedSimdTarget forced("avx3");
    CHECK(kernels::active_simd_target() == "avx3");
    CHECK(!kernels::uses_integer_products());
  }
  const kernels::ScopedSimdTarget forced("avx3_vnni");
  CHECK(kernels::uses_integer_products());
}

}  // namespace attnviz
