// A weight matrix as stored in its file. How the numbers of a tensor are stored.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// How the numbers of a tensor are stored: individually or, from kQ4_0 on, quantised in blocks of a
/// few bits per number with shared scales (the types of GGUF).
enum class StoredType {
  kF64,
  kF32,
  kF16,
  kBf16,
  kF8E4M3,
  kF8E5M2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  // NOLINTBEGIN(readability-identifier-naming): as the format spells them
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kIQ2_XXS,
  kIQ2_XS,
  kIQ2_S,
  kIQ3_XXS,
  kIQ3_S,
  kIQ1_S,
  kIQ1_M,
  kTQ1_0,
  kTQ2_0,
  kMXFP4,
  // NOLINTEND(readability-identifier-naming)
};

/// The last type.
constexpr StoredType kLastStoredType = StoredType::kMXFP4;

/// The unit of storage: how many numbers it holds (1 unless they are quantised) in how many bytes.
struct BlockShape {
  std::size_t numbers = 1;
  std::size_t bytes = 0;
};

/// "F32", "BF16", …, as in the safetensors format; "Q4_K", …, as in the GGUF format.
std::string_view stored_type_name(StoredType type) noexcept;
/// The type with this name, if any.
std::optional<StoredType> stored_type_named(std::string_view name) noexcept;
/// The block that numbers of this type are stored in.
BlockShape stored_block(StoredType type) noexcept;
/// Whether several numbers share a block.
bool is_quantised(StoredType type) noexcept;
/// The bytes that `n_numbers` take. Precondition: they fill whole blocks, and the result fits a
/// size_t.
std::size_t stored_bytes(StoredType type, std::size_t n_numbers) noexcept;

/// A read-only view of [rows, cols] numbers that are F32, F16, BF16 or F64 in the machine's byte
/// order, or quantised in little-endian blocks. Does not own; valid as long as the viewed memory.
/// rows == 0 means "absent".
///
/// Number (row, col) is the one at row * stride + col or, if transposed, at col * stride + row:
/// weights map [d_in] to [d_out], and many files keep them as [d_out, d_in].
///
/// `data` may be any address, since a tensor may begin at any byte of its file: numbers are read
/// with number_at(), or as vectors that need no alignment. stored_numbers.h reads them one by one,
/// by rows, and all at once.
///
/// Quantised numbers are stored in blocks, a whole number of them in each stored row: `stride`,
/// which counts numbers as always, is a multiple of the block's. `data` is the start of a block,
/// and `skip` numbers of each stored row, fewer than a block has, come before the viewed ones.
struct StoredMatrix {
  const void* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;
  StoredType type = StoredType::kF32;
  bool transposed = false;
  std::size_t skip = 0;

  StoredMatrix() = default;
  StoredMatrix(const void* numbers, std::size_t n_rows, std::size_t n_cols, std::size_t step,
               StoredType stored = StoredType::kF32, bool is_transposed = false) noexcept
      : data(numbers),
        rows(n_rows),
        cols(n_cols),
        stride(step),
        type(stored),
        transposed(is_transposed) {}
  StoredMatrix(ConstMatrix floats) noexcept
      : StoredMatrix(floats.data, floats.rows, floats.cols, floats.stride) {}
  StoredMatrix(Matrix floats) noexcept : StoredMatrix(ConstMatrix(floats)) {}

  bool empty() const noexcept { return rows == 0; }

  /// Rows [first, first + count). Precondition: in range.
  StoredMatrix row_block(std::size_t first, std::size_t count) const noexcept;
  /// Columns [first, first + count). Precondition: in range.
  StoredMatrix col_block(std::size_t first, std::size_t count) const noexcept;

  /// Precondition: is_floats().
  ConstMatrix as_floats() const noexcept {
    return {static_cast<const float*>(data), rows, cols, stride};
  }
  /// F32, not transposed, and aligned for floats.
  bool is_floats() const noexcept;

  /// Whether both are the same view of the same memory.
  bool operator==(const StoredMatrix&) const = default;

 private:
  // Moves `data` along stored rows, or to another row.
  void advance(std::size_t stored_rows, std::size_t numbers) noexcept;
};

// Floating-point numbers of 16 bits. Numbers at any byte, in either byte order.

/// The value of a binary16 (1 sign, 5 exponent, 10 fraction bits), exactly; NaN stays NaN.
constexpr float float_from_half(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1Fu;
  const std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0x1F) {  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  }
  if (exponent != 0) {
    constexpr std::uint32_t kBiasDifference = 127 - 15;
    return std::bit_cast<float>(sign | (exponent + kBiasDifference) << 23 | fraction << 13);
  }
  constexpr float kSmallest = 1.0f / 16777216.0f;  // 2^-24, the step of subnormal numbers
  const float magnitude = static_cast<float>(fraction) * kSmallest;
  return sign != 0 ? -magnitude : magnitude;
}

/// A binary16, and a bfloat16 (1 sign, 8 exponent, 7 fraction bits: the upper half of a float).
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// The same value, exactly; NaN stays NaN.
constexpr float to_float(float value) noexcept {
  return value;
}
constexpr float to_float(Float16 value) noexcept {
  return float_from_half(value.bits);
}
constexpr float to_float(BFloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

constexpr float to_float(double value) noexcept {
  return static_cast<float>(value);
}

/// The number at `from`, which need not be aligned.
template <class Number>
float number_at(const Number* from) noexcept {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return to_float(number);
}

/// The number of type T at `bytes`, which need not be aligned.
template <class T>
T load_number(const char* bytes, bool big_endian = false) noexcept {
  std::array<char, sizeof(T)> order;
  std::memcpy(order.data(), bytes, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big)) {
    std::reverse(order.begin(), order.end());
  }
  return std::bit_cast<T>(order);
}

}  // namespace attnviz
