// Line charts, independent of a medium.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace attnviz {

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
};

/// One line, with points in order of x. Points that are not finite, or not above 0 on a logarithmic
/// axis, are omitted.
struct ChartSeries {
  std::string name;  // drawn at the line's end
  std::vector<ChartPoint> points;
  std::size_t color = 0;      // of group_color()
  bool is_reference = false;  // a theoretical curve: dashed and grey, without marks
};

/// A tick of an axis with its label.
struct ChartTick {
  double value = 0.0;
  std::string label;
};

enum class ChartScale { kLinear, kLog2, kLog10 };

/// The unit of an axis, for its labels: "100 kB", "10 ms", "1 M".
enum class ChartUnit { kNone, kSeconds, kBytes };

/// The range of an axis: low < high, and both above 0 if it is logarithmic.
struct ChartAxis {
  std::string name;
  ChartScale scale = ChartScale::kLinear;
  double low = 0.0;
  double high = 1.0;
  bool is_count = false;  // only whole numbers have ticks
  ChartUnit unit = ChartUnit::kNone;

  /// The relative position of a value: 0 at the low end, 1 at the high end.
  double position(double value) const noexcept;
};

/// Round numbers on an axis, at most `most` (at least 2): powers of 2 or 10 if it is logarithmic,
/// else multiples of 1, 2 or 5 times a power of ten. In order, and all in one notation: decimals,
/// SI prefixes (k, M, G, …), or powers of ten.
std::vector<ChartTick> chart_ticks(const ChartAxis& axis, std::size_t most);

struct LineChart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series;
};

/// Charts side by side, or one below the other if space is short.
struct ChartFigure {
  std::vector<LineChart> charts;  // at least one
  std::string title;
  std::vector<std::string> notes;
};

/// Whether a point can be drawn on the chart's axes.
bool is_drawn(const LineChart& chart, ChartPoint point) noexcept;

/// Fits the axes to the points: logarithmic ones exactly, linear ones from 0 (or from the least
/// value, if that is negative) to a round number. If all values are equal, or there are none, an
/// axis around them.
void fit_axes(LineChart& chart);

}  // namespace attnviz
