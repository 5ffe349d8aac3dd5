// Sums that do not depend on the order of their terms, and so not on which thread comes first.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace attnviz {

/// Adds up non-negative numbers as whole multiples of 2^-62 times a bound of their sum, rounded
/// down.
class FixedPoint {
 public:
  /// `bound`, which is positive: no sum exceeds it, except by rounding errors of its terms.
  explicit FixedPoint(double bound) noexcept
      : units_(std::exp2(62.0 - std::ceil(std::log2(bound * kMargin)))) {}

  std::int64_t of(double term) const noexcept { return static_cast<std::int64_t>(term * units_); }
  /// The sum divided by `count`.
  double mean(std::int64_t sum, std::size_t count) const noexcept {
    return static_cast<double>(sum) / (units_ * static_cast<double>(count));
  }

 private:
  static constexpr double kMargin = 1.001;
  double units_;  // units in 1
};

/// Adds up numbers below 2^40 as whole multiples of 2^-60; the sum may reach 2^66.
class ExactSum {
 public:
  void add(double term) noexcept {
    // A conversion to 64 bits is one instruction, a conversion to 128 bits a function call.
    constexpr double kSmall = 8.0;
    units_ += std::abs(term) < kSmall ? static_cast<std::int64_t>(term * kUnits)
                                      : static_cast<Integer>(term * kUnits);
  }
  void add(const ExactSum& other) noexcept { units_ += other.units_; }
  double value() const noexcept { return static_cast<double>(units_) / kUnits; }
  bool operator==(const ExactSum&) const = default;

  /// The upper and the lower half of the units in two's complement, for files.
  std::pair<std::uint64_t, std::uint64_t> halves() const noexcept {
    return {static_cast<std::uint64_t>(units_ >> kHalf), static_cast<std::uint64_t>(units_)};
  }
  static ExactSum of_halves(std::uint64_t upper, std::uint64_t lower) noexcept {
    ExactSum sum;
    sum.units_ = static_cast<Integer>((static_cast<Natural>(upper) << kHalf) | lower);
    return sum;
  }

 private:
  __extension__ using Integer = __int128;
  __extension__ using Natural = unsigned __int128;
  static constexpr int kHalf = 64;
  static constexpr double kUnits = 1152921504606846976.0;  // 2^60
  Integer units_ = 0;
};

/// Added to a number below 2^14 and subtracted again, this leaves a multiple of 2^-36, because
/// smaller bits do not fit. Sums of these multiples are exact below 2^17.
inline constexpr double kCoarse = 1.5 * 65536.0;

inline double coarsened(double term) noexcept {
  return (term + kCoarse) - kCoarse;
}

}  // namespace attnviz
