// Floating-point numbers of 16 bits. Numbers that lie among bytes, in either byte order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace attnviz {

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

/// The number that lies at `from`, which need not be aligned.
template <class Number>
float number_at(const Number* from) noexcept {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return to_float(number);
}

/// The number of type T that lies at `bytes`, which need not be aligned.
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
