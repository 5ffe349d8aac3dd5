#include "attnviz/color/color_scale.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "attnviz/core/error.h"

namespace attnviz {

float ColorScale::position(float value) const noexcept {
  switch (kind) {
    case ScaleKind::kSqrt:
      return std::isnan(value) ? value : std::sqrt(std::max(value - low, 0.0f) / (high - low));
    case ScaleKind::kLog:
      // The whole range may be wider than a float's own.
      return std::isnan(value)
                 ? value
                 : static_cast<float>(std::log(std::max<double>(value, low) / double{low}) /
                                      std::log(double{high} / double{low}));
    case ScaleKind::kLinear:
    case ScaleKind::kRowMax:
      break;
  }
  return (value - low) / (high - low);
}

void check(const ColorScale& scale) {
  if (!(scale.low < scale.high) || !std::isfinite(scale.high - scale.low)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a colour scale from {} to {} cannot be drawn", scale.low,
                            scale.high));
  }
  if (scale.kind == ScaleKind::kLog && scale.low <= 0.0f) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a logarithmic colour scale begins above 0, found {}; choose "
                            "a range such as 0.001:1",
                            scale.low));
  }
}

namespace {

std::string written(double value, double step) {
  // Multiples come with rounding errors; a hundredth of a step is far more than those.
  const double exact = std::round(value / (step / 100.0)) * (step / 100.0);
  return fmt::format("{:.4g}", exact == 0.0 ? 0.0 : exact);
}

std::vector<ColorTick> linear_ticks(double low, double high, std::size_t most) {
  const double step = round_step((high - low) / (static_cast<double>(most) - 1.0));
  const double margin = 2.0 / 3.0 * step;
  std::vector<ColorTick> ticks;
  for (double i = std::ceil((low + margin) / step); i * step <= high - margin; ++i) {
    ticks.push_back({(i * step - low) / (high - low), written(i * step, step)});
  }
  return ticks;
}

// Powers of ten first, then their fives, then their twos, each where the ones before leave room; no
// fives or twos at all where there would be too many of them, because some alone look like a gap.
std::vector<ColorTick> uneven_ticks(const ColorScale& scale, std::size_t most) {
  constexpr int kLeastPower = -38;
  constexpr int kMostPower = 38;
  const double distance = 0.8 / (static_cast<double>(most) - 1.0);
  std::vector<ColorTick> ticks;
  for (const double factor : {1.0, 5.0, 2.0}) {
    std::vector<ColorTick> more = ticks;
    for (int power = kMostPower; power >= kLeastPower; --power) {
      const double value = factor * std::pow(10.0, power);
      if (value <= scale.low || value >= scale.high) {
        continue;
      }
      const double position = scale.position(static_cast<float>(value));
      const auto crowds = [position, distance](const ColorTick& tick) {
        return std::abs(tick.position - position) < distance;
      };
      const bool wanted = factor > 1.0 || more.size() + 2 < most;
      if (wanted && position >= distance && position <= 1.0 - distance &&
          std::none_of(more.begin(), more.end(), crowds)) {
        more.push_back({position, fmt::format("{:.4g}", value)});
      }
    }
    if (more.size() + 2 > most) {
      break;
    }
    ticks = std::move(more);
  }
  std::sort(ticks.begin(), ticks.end(),
            [](const ColorTick& a, const ColorTick& b) { return a.position < b.position; });
  return ticks;
}

}  // namespace

double round_step(double number) noexcept {
  constexpr double kRounding = 1.0 - 1e-6;
  if (!(number > 0.0) || !std::isfinite(number)) {
    return 1.0;
  }
  const double power = std::pow(10.0, std::floor(std::log10(number)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= number * kRounding) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

void OpenEnds::take(const ColorScale& scale, float value) noexcept {
  constexpr double kRounding = 1e-4;
  const bool is_log = scale.kind == ScaleKind::kLog;
  const double range = double{scale.high} - double{scale.low};
  low = low || value < scale.low - kRounding * (is_log ? scale.low : range);
  high = high || value > scale.high + kRounding * (is_log ? scale.high : range);
}

EndLabels end_labels(const ColorScale& scale, OpenEnds open, bool is_ascii) {
  return {fmt::format("{}{:.4g}",
                      !open.low  ? ""
                      : is_ascii ? "<= "
                                 : "≤ ",
                      scale.low),
          fmt::format("{}{:.4g}",
                      !open.high ? ""
                      : is_ascii ? ">= "
                                 : "≥ ",
                      scale.high)};
}

std::vector<ColorTick> color_ticks(const ColorScale& scale, std::size_t most, OpenEnds open,
                                   bool is_ascii) {
  std::vector<ColorTick> ticks;
  if (most > 2) {
    const bool even = scale.kind == ScaleKind::kLinear || scale.kind == ScaleKind::kRowMax;
    ticks = even ? linear_ticks(scale.low, scale.high, most) : uneven_ticks(scale, most);
  }
  EndLabels ends = end_labels(scale, open, is_ascii);
  ticks.insert(ticks.begin(), {0.0, std::move(ends.low)});
  ticks.push_back({1.0, std::move(ends.high)});
  return ticks;
}

std::string CellNumbers::format(float value) const {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos ? "0" : text;
}

CellNumbers cell_numbers(float low, float high) {
  const float largest = std::max(std::abs(low), std::abs(high));
  CellNumbers numbers;
  numbers.decimals = largest < 10.0f ? 2 : (largest < 100.0f ? 1 : 0);
  numbers.columns = std::max(numbers.format(low).size(), numbers.format(high).size());
  return numbers;
}

}  // namespace attnviz
