#include "attnviz/render/color_ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attnviz {

namespace {

// The smallest of 1, 2, 5 times a power of ten that is at least `width`.
double round_step(double width) {
  const double power = std::pow(10.0, std::floor(std::log10(width)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= width * (1.0 - 1e-9)) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

std::string written(double value, double step) {
  // Multiples come with rounding errors; a hundredth of a step is far more than those.
  const double exact = std::round(value / (step / 100.0)) * (step / 100.0);
  return fmt::format("{:.4g}", exact == 0.0 ? 0.0 : exact);
}

}  // namespace

std::vector<ColorTick> color_ticks(double low, double high, std::size_t most) {
  const double intervals = static_cast<double>(std::max<std::size_t>(most, 2)) - 1.0;
  const double step = round_step((high - low) / intervals);
  std::vector<ColorTick> ticks = {{low, fmt::format("{:.4g}", low)}};
  const double margin = 2.0 / 3.0 * step;
  for (double i = std::ceil((low + margin) / step); i * step <= high - margin && most > 2; ++i) {
    ticks.push_back({i * step, written(i * step, step)});
  }
  ticks.push_back({high, fmt::format("{:.4g}", high)});
  return ticks;
}

std::string CellNumbers::format(float value) const {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  if (is_zero && text.front() == '-') {
    text.erase(0, 1);
  }
  return text;
}

CellNumbers cell_numbers(float low, float high) {
  const float largest = std::max(std::abs(low), std::abs(high));
  CellNumbers numbers;
  numbers.decimals = largest < 10.0f ? 2 : (largest < 100.0f ? 1 : 0);
  numbers.columns = std::max(numbers.format(low).size(), numbers.format(high).size());
  return numbers;
}

}  // namespace attnviz
