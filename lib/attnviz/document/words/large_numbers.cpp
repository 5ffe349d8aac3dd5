#include "attnviz/document/words/large_numbers.h"

#include <fmt/core.h>

#include <span>
#include <string_view>

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

std::string rounded_bytes(std::size_t bytes) {
  static constexpr std::string_view kUnits[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
  return rounded(bytes, kUnits);
}

}  // namespace attnviz
