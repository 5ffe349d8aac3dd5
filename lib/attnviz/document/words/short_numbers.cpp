#include "attnviz/document/words/short_numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "attnviz/document/words/number_group.h"

namespace attnviz {

namespace {

// `units` of a thousand each; the first is that of single ones.
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

enum class Side { kBelow, kWithin, kAbove };  // of what the decimals can write

// Where rounding would make nothing of something, or all of less.
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
  return std::max(fmt::formatted_size("{:.{}f}", low, decimals),
                  fmt::formatted_size("{:.{}f}", high, decimals));
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
  for (int decimals = decimals_; decimals >= 0; --decimals) {  // 1.00 has no zero to lose: 1.0
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
