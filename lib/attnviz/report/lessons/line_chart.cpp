#include "attnviz/report/lessons/line_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "attnviz/color/colormap.h"

namespace attnviz {

namespace {

bool is_log(const ChartAxis& axis) noexcept {
  return axis.scale != ChartScale::kLinear;
}

bool fits(const ChartAxis& axis, double value) noexcept {
  return std::isfinite(value) && (!is_log(axis) || value > 0.0);
}

struct Prefix {
  double size;
  const char* name;
};
constexpr Prefix kLarge[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"},
                             {1e9, "G"},  {1e6, "M"},  {1e3, "k"}};
constexpr Prefix kShortUnits[] = {{1.0, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}};

// The largest prefix that is not above `size`; `prefixes` are in falling order.
template <std::size_t n>
Prefix prefix_of(double size, const Prefix (&prefixes)[n], Prefix otherwise) {
  constexpr double kRounding = 1.0 + 1e-9;
  const auto found = std::ranges::find_if(
      prefixes, [size](const Prefix& prefix) { return size * kRounding >= prefix.size; });
  return found == std::end(prefixes) ? otherwise : *found;
}

// A value in units of `prefix`.
std::string in_units(double value, const Prefix& prefix, std::string_view unit) {
  const double number = std::round(value / prefix.size * 1e9) / 1e9;
  const std::string words = fmt::format("{}{}", prefix.name, unit);
  return fmt::format("{:.10g}{}{}", number, words.empty() ? "" : " ", words);
}

std::string power_of_ten(double value) {
  // Formatting with {:e} would give "1e-05" its needless zero.
  const int power = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  return fmt::format("{:.3g}e{}", value / std::pow(10.0, power), power);
}

// Labels all ticks in one notation, those of a linear axis in one unit.
void label(const ChartAxis& axis, std::vector<ChartTick>& ticks) {
  constexpr double kMostDigits = 1e4;   // larger numbers are easier to read with prefixes
  constexpr double kMostDoubled = 1e6;  // powers of 2 are recognized by their digits
  constexpr double kLeastDecimals = 0.99e-4;
  double most = 0.0;
  double least = std::numeric_limits<double>::infinity();  // except 0
  for (const ChartTick& tick : ticks) {
    const double size = std::abs(tick.value);
    most = std::max(most, size);
    least = size > 0.0 ? std::min(least, size) : least;
  }
  const Prefix none = {1.0, ""};
  const bool is_large =
      most >= (axis.scale == ChartScale::kLog2 ? kMostDoubled : kMostDigits) * (1.0 - 1e-9);
  for (ChartTick& tick : ticks) {
    const double size = is_log(axis) ? std::abs(tick.value) : most;
    if (tick.value == 0.0) {
      tick.label = "0";
    } else if (axis.unit == ChartUnit::kSeconds) {
      tick.label =
          in_units(tick.value, prefix_of(size, kShortUnits, std::end(kShortUnits)[-1]), "s");
    } else if (axis.unit == ChartUnit::kBytes) {
      tick.label = in_units(tick.value, prefix_of(size, kLarge, none), "B");
    } else if (least < kLeastDecimals) {
      tick.label = power_of_ten(tick.value);
    } else {
      tick.label = in_units(tick.value, is_large ? prefix_of(size, kLarge, none) : none, "");
    }
  }
}

std::vector<ChartTick> log_ticks(const ChartAxis& axis, std::size_t most) {
  const double base = axis.scale == ChartScale::kLog2 ? 2.0 : 10.0;
  constexpr double kRounding = 1e-9;
  const auto exponent = [base](double value) { return std::log2(value) / std::log2(base); };
  const auto first = static_cast<int>(std::ceil(exponent(axis.low) - kRounding));
  const auto last = static_cast<int>(std::floor(exponent(axis.high) + kRounding));
  const int n_powers = std::max(last - first + 1, 0);
  const int step = std::max(1, (n_powers + static_cast<int>(most) - 1) / static_cast<int>(most));
  std::vector<ChartTick> ticks;
  for (int power = first; power <= last; power += step) {
    ticks.push_back({std::pow(base, power), {}});
  }
  return ticks;
}

std::vector<ChartTick> linear_ticks(const ChartAxis& axis, std::size_t most) {
  const double apart = round_step((axis.high - axis.low) / static_cast<double>(most - 1));
  const double step = axis.is_count ? std::max(1.0, apart) : apart;
  std::vector<ChartTick> ticks;
  for (double at = std::ceil(axis.low / step - 1e-9); at * step <= axis.high + 1e-9 * step;
       at += 1.0) {
    const double value = at == 0.0 ? 0.0 : at * step;
    ticks.push_back({value, {}});
  }
  return ticks;
}

// Sets an axis over the range [low, high] of drawn values; widens an empty range.
void fit(ChartAxis& axis, double low, double high) {
  if (!(low <= high)) {
    low = is_log(axis) ? 1.0 : 0.0;
    high = low;
  }
  if (is_log(axis)) {
    const double base = axis.scale == ChartScale::kLog2 ? 2.0 : 10.0;
    axis.low = low;
    axis.high = low < high ? high : low * base;
    return;
  }
  axis.low = std::min(low, 0.0);
  axis.high = std::max(high, 0.0);
  if (axis.low == axis.high) {
    axis.high = 1.0;
  }
  const double step = round_step((axis.high - axis.low) / 5.0);
  axis.low = std::floor(axis.low / step + 1e-9) * step;
  axis.high = std::ceil(axis.high / step - 1e-9) * step;
}

}  // namespace

double ChartAxis::position(double value) const noexcept {
  if (scale == ChartScale::kLinear) {
    return (value - low) / (high - low);
  }
  return std::log(value / low) / std::log(high / low);
}

std::vector<ChartTick> chart_ticks(const ChartAxis& axis, std::size_t most) {
  std::vector<ChartTick> ticks = is_log(axis) ? log_ticks(axis, most) : linear_ticks(axis, most);
  label(axis, ticks);
  return ticks;
}

bool is_drawn(const LineChart& chart, ChartPoint point) noexcept {
  return fits(chart.x, point.x) && fits(chart.y, point.y);
}

void fit_axes(LineChart& chart) {
  constexpr double kEnd = std::numeric_limits<double>::infinity();
  double least_x = kEnd, most_x = -kEnd, least_y = kEnd, most_y = -kEnd;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (is_drawn(chart, point)) {
        least_x = std::min(least_x, point.x);
        most_x = std::max(most_x, point.x);
        least_y = std::min(least_y, point.y);
        most_y = std::max(most_y, point.y);
      }
    }
  }
  fit(chart.x, least_x, most_x);
  fit(chart.y, least_y, most_y);
}

}  // namespace attnviz
