#include "attnviz/report/words/number_formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

namespace attnviz {

std::string signed_number(double value) {
  constexpr double kRounded = 0.005;
  return std::abs(value) < kRounded ? "0.00" : fmt::format("{:+.2f}", value);
}

std::string percent_number(double share) {
  return percent_cell(static_cast<float>(share), 1);
}

std::string percent_of_log(double log_probability) {
  return percent_number(std::exp(log_probability));
}

std::string two_decimals(double value) {
  return without_zero_sign(fmt::format("{:.2f}", value));
}

std::string small_decimals(double value) {
  constexpr double kSmall = 0.0005;
  return value == 0.0      ? "0"
         : value >= kSmall ? fmt::format("{:.3f}", value)
                           : fmt::format("{:.1e}", value);
}

std::string grouped_number(double count) {
  return grouped(static_cast<std::size_t>(count));
}

namespace {

// exp(|change|) in two digits: "1,200", "10^7". Empty below 1.05.
std::string factor_digits(double log_probability_change) {
  constexpr double kSame = 0.05;  // relative tolerance
  constexpr double kMostDigits = 1e6;
  const double factor = std::exp(std::abs(log_probability_change));
  if (!(factor >= 1.0 + kSame)) {
    return {};
  }
  if (factor >= kMostDigits) {
    return fmt::format("10^{:.0f}", std::abs(log_probability_change) / std::log(10.0));
  }
  if (factor < 10.0) {
    return fmt::format("{:.1f}", factor);
  }
  const double unit = std::pow(10.0, std::floor(std::log10(factor)) - 1.0);
  return grouped(static_cast<std::size_t>(std::llround(std::round(factor / unit) * unit)));
}

}  // namespace

std::string factor_words(double log_probability_change) {
  const std::string digits = factor_digits(log_probability_change);
  return digits.empty() ? "same" : (log_probability_change < 0.0 ? "÷ " : "× ") + digits;
}

std::string probability_words(double log_probability_change) {
  const std::string digits = factor_digits(log_probability_change);
  return digits.empty() ? "about as probable"
                        : digits + (log_probability_change < 0.0 ? " times less probable"
                                                                 : " times as probable");
}

namespace {

constexpr int kMostDecimals = 4;
constexpr float kTooLarge = 1e6f;
constexpr float kTooSmall = 1e-3f;

// The number of decimals that give `value` with a float's precision, at most kMostDecimals.
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

namespace {

// `units` grow by factors of a thousand; the first is for single items.
std::string rounded(std::size_t number, std::span<const std::string_view> units) {
  constexpr double kStep = 1000.0;
  constexpr double kRoundsToStep = 999.5;
  constexpr double kRoundsToHundred = 99.95;
  if (number < static_cast<std::size_t>(kStep)) {
    return fmt::format("{}{}", number, units.front());
  }
  auto value = static_cast<double>(number);
  std::size_t unit = 0;
  while (value >= kRoundsToStep && unit + 1 < units.size()) {
    value /= kStep;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", value, value < kRoundsToHundred ? 1 : 0, units[unit]);
}

enum class Side { kBelow, kWithin, kAbove };  // of the range that the decimals can express

// Whether rounding would turn a positive share into 0, or a share below 1 into 1.
Side side_of(float share, int decimals) noexcept {
  constexpr float kOneButForRounding = 1.0f - std::numeric_limits<float>::epsilon();
  const double percent = static_cast<double>(share) * 100.0;
  const double half = decimals == 0 ? 0.5 : 0.05;
  if (share > 0.0f && percent < half) {
    return Side::kBelow;
  }
  return share < kOneButForRounding && percent >= 100.0 - half ? Side::kAbove : Side::kWithin;
}

std::string written(float share, int decimals) {
  const double percent = static_cast<double>(share) * 100.0;
  return fmt::format("{:.{}f}", share == 0.0f ? 0.0 : percent, decimals);
}

constexpr int kMostShortDecimals = 3;

bool within_unit(float low, float high) noexcept {
  return low >= 0.0f && high <= 1.0f;
}

std::size_t plain_width(float low, float high, int decimals) {
  return std::max(fmt::format("{:.{}f}", low, decimals).size(),
                  fmt::format("{:.{}f}", high, decimals).size());
}

}  // namespace

std::string grouped(std::size_t number) {
  constexpr std::size_t kGroup = 3;
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % kGroup == 0) {
      text += ',';
    }
    text += digits[i];
  }
  return text;
}

std::string rounded_count(std::size_t number) {
  static constexpr std::string_view kUnits[] = {"", " K", " M", " B", " T"};
  return rounded(number, kUnits);
}

std::string rounded_amount(std::size_t number) {
  static constexpr std::string_view kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  return rounded(number, kUnits);
}

std::string rounded_bytes(std::size_t bytes) {
  static constexpr std::string_view kUnits[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
  return rounded(bytes, kUnits);
}

std::string percentage(float share, int decimals) {
  constexpr float kLeastWhole = 0.0995f;
  constexpr float kMostWhole = 0.9906f;
  constexpr float kLeast = 0.001f;
  if (share == 0.0f) {
    return "0 %";
  }
  if (share > 0.0f && share < kLeast) {
    return "less than 0.1 %";
  }
  const bool is_fine = decimals > 0 || share < kLeastWhole || (share >= kMostWhole && share < 1.0f);
  if (side_of(share, 1) == Side::kAbove) {
    return "more than 99.9 %";
  }
  const std::string number = written(share, is_fine ? 1 : 0);
  return (number == "100.0" ? "100" : number) + " %";
}

std::string percent_cell(float share, int decimals) {
  switch (side_of(share, decimals)) {
    case Side::kBelow:
      return decimals == 0 ? "<1%" : "<.1%";
    case Side::kAbove:
      return decimals == 0 ? ">99%" : ">99.9%";
    case Side::kWithin:
      break;
  }
  return written(share, decimals) + "%";
}

std::size_t number_width(float low, float high, int decimals) {
  return within_unit(low, high) ? static_cast<std::size_t>(decimals) + 1
                                : plain_width(low, high, decimals);
}

NumberFormat::NumberFormat(float low, float high, std::size_t width) : width_(width) {
  for (decimals_ = kMostShortDecimals; decimals_ > 0; --decimals_) {
    if (number_width(low, high, decimals_) <= width) {
      break;
    }
  }
  leading_zero_ = !within_unit(low, high) || plain_width(low, high, decimals_) <= width;
}

std::string NumberFormat::text(float value) const {
  for (int decimals = decimals_; decimals >= 0; --decimals) {  // 1.00: no zero to drop
    std::string number = without_zero_sign(fmt::format("{:.{}f}", value, decimals));
    if (number.size() > width_ && !leading_zero_ && number.starts_with("0.")) {
      number.erase(0, 1);
    }
    if (number.size() <= width_) {
      return number;
    }
  }
  const std::string number = fmt::format("{:.0e}", value);
  return number.size() <= width_ ? number : std::string(width_, '#');
}

}  // namespace attnviz
