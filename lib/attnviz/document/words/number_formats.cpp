#include "attnviz/document/words/number_formats.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>

#include "attnviz/document/words/number_group.h"
#include "attnviz/document/words/short_numbers.h"

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

std::string factor_words(double log_probability_change) {
  constexpr double kSame = 0.05;  // in the factor
  constexpr double kMostDigits = 1e6;
  const double factor = std::exp(std::abs(log_probability_change));
  if (!(factor >= 1.0 + kSame)) {
    return "equally";
  }
  const char* const direction = log_probability_change < 0.0 ? "less" : "more";
  if (factor >= kMostDigits) {
    return fmt::format("10^{:.0f} × {}", std::abs(log_probability_change) / std::log(10.0),
                       direction);
  }
  if (factor < 10.0) {
    return fmt::format("{:.1f} × {}", factor, direction);
  }
  const double unit = std::pow(10.0, std::floor(std::log10(factor)) - 1.0);  // two digits
  return fmt::format(
      "{} × {}", grouped(static_cast<std::size_t>(std::llround(std::round(factor / unit) * unit))),
      direction);
}

}  // namespace attnviz
