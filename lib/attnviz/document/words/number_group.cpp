#include "attnviz/document/words/number_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace attnviz {

namespace {

constexpr int kMostDecimals = 4;
constexpr float kTooLarge = 1e6f;
constexpr float kTooSmall = 1e-3f;

// The decimals that write `value` as exactly as a float is, at most kMostDecimals.
int decimals_of(float value) noexcept {
  constexpr double kFloatPrecision = 2e-7;
  double shifted = std::abs(static_cast<double>(value));
  for (int decimals = 0; decimals < kMostDecimals; ++decimals, shifted *= 10.0) {
    if (std::abs(shifted - std::round(shifted)) <= kFloatPrecision * shifted) {
      return decimals;
    }
  }
  return kMostDecimals;
}

}  // namespace

void NumberGroup::add(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) {
      has_odd_ = true;
      continue;
    }
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
    largest_ = std::max(largest_, std::abs(value));
    if (needed_ < kMostDecimals) {
      needed_ = std::max(needed_, decimals_of(value));
    }
  }
}

void NumberGroup::add(ConstMatrix values) {
  for (std::size_t row = 0; row < values.rows; ++row) {
    add(values.row(row));
  }
}

bool NumberGroup::is_scientific() const noexcept {
  return largest_ >= kTooLarge || (largest_ > 0.0f && largest_ < kTooSmall);
}

int NumberGroup::decimals() const noexcept {
  int most = kMostDecimals;
  for (float limit = 1e3f; most > 0 && largest_ >= limit; limit *= 10.0f) {
    --most;
  }
  return std::min(most, needed_);
}

std::string NumberGroup::text(float value) const {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0.0f ? "inf" : "-inf";
  }
  if (is_scientific()) {
    return value == 0.0f ? "0" : fmt::format("{:.3e}", value);
  }
  return without_zero_sign(fmt::format("{:.{}f}", value, decimals()));
}

std::size_t NumberGroup::width() const {
  constexpr std::size_t kOdd = 4;  // -inf
  return std::max({text(low_).size(), text(high_).size(), has_odd_ ? kOdd : 1});
}

std::string without_zero_sign(std::string number) {
  constexpr std::string_view kOfZeros = "-.0e+";  // -inf keeps its sign
  if (number.starts_with('-') && number.find_first_not_of(kOfZeros) == std::string::npos) {
    number.erase(0, 1);
  }
  return number;
}

}  // namespace attnviz
