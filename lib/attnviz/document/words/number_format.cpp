#include "attnviz/document/words/number_format.h"

#include <fmt/core.h>

#include <algorithm>

namespace attnviz {

namespace {

constexpr int kMostDecimals = 3;

bool within_unit(float low, float high) noexcept {
  return low >= 0.0f && high <= 1.0f;
}

std::size_t plain_width(float low, float high, int decimals) {
  return std::max(fmt::formatted_size("{:.{}f}", low, decimals),
                  fmt::formatted_size("{:.{}f}", high, decimals));
}

}  // namespace

std::size_t number_width(float low, float high, int decimals) {
  return within_unit(low, high) ? static_cast<std::size_t>(decimals) + 1
                                : plain_width(low, high, decimals);
}

NumberFormat::NumberFormat(float low, float high, std::size_t width) : width_(width) {
  for (decimals_ = kMostDecimals; decimals_ > 0; --decimals_) {
    if (number_width(low, high, decimals_) <= width) {
      break;
    }
  }
  leading_zero_ = !within_unit(low, high) || plain_width(low, high, decimals_) <= width;
}

std::string NumberFormat::text(float value) const {
  for (int decimals = decimals_; decimals >= 0; --decimals) {  // 1.00 has no zero to lose: 1.0
    std::string number = fmt::format("{:.{}f}", value, decimals);
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
