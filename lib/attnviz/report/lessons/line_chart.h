// Lines over a number, as a value without a medium.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace attnviz {

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
};

/// One line; points in order of x. Those that are not finite, or not above 0 on a logarithmic axis,
/// are left out.
struct ChartSeries {
  std::string name;  // stands at its end
  std::vector<ChartPoint> points;
  std::size_t color = 0;      // of group_color()
  bool is_reference = false;  // what theory says: dashed and grey, without marks
};

/// A number along an axis, with what is written there.
struct ChartTick {
  double value = 0.0;
  std::string label;
};

enum class ChartScale { kLinear, kLog2, kLog10 };

/// What the numbers of an axis are, for its labels: "100 kB", "10 ms", "1 M".
enum class ChartUnit { kNone, kSeconds, kBytes };

/// Where an axis begins and ends: low < high, and above 0 where it is logarithmic.
struct ChartAxis {
  std::string name;
  ChartScale scale = ChartScale::kLinear;
  double low = 0.0;
  double high = 1.0;
  bool is_count = false;  // between whole numbers is nothing
  ChartUnit unit = ChartUnit::kNone;

  /// Where a value lies: 0 at the low end, 1 at the high one.
  double position(double value) const noexcept;
};

/// Round numbers on an axis, at most `most` (at least 2): powers of 2 or 10 where it is
/// logarithmic, else multiples of 1, 2 or 5 times a power of ten. In order, and all written in one
/// way: in decimals, with prefixes of SI (k, M, G, …), or as powers of ten.
std::vector<ChartTick> chart_ticks(const ChartAxis& axis, std::size_t most);

struct LineChart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series;
};

/// Charts that stand beside each other, or below where there is no room.
struct ChartFigure {
  std::vector<LineChart> charts;  // at least one
  std::string title;
  std::vector<std::string> notes;
};

/// Whether a point can be drawn on the chart's axes.
bool is_drawn(const LineChart& chart, ChartPoint point) noexcept;

/// The axes as far as the points go: logarithmic ones to them, linear ones from 0 (or the least,
/// where that is below) to a round number. Of points that are all alike, or none, an axis around
/// them.
void fit_axes(LineChart& chart);

}  // namespace attnviz
