#include <fmt/core.h>

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "attnviz/analysis/lessons/attention_cost.h"
#include "attnviz/document/lessons/lesson.h"
#include "attnviz/document/words/short_numbers.h"

namespace attnviz {

namespace {

// "13 µs", "0.52 ms", "1.3 s".
std::string duration(double seconds) {
  return seconds < 1e-3  ? fmt::format("{:.0f} µs", 1e6 * seconds)
         : seconds < 1.0 ? fmt::format("{:.3g} ms", 1e3 * seconds)
                         : fmt::format("{:.3g} s", seconds);
}

template <class Y>
ChartSeries over_n(const char* name, std::size_t color, const std::vector<CostPoint>& points,
                   const Y& y) {
  ChartSeries series{name, {}, color};
  for (const CostPoint& point : points) {
    series.points.push_back({static_cast<double>(point.n_tokens), static_cast<double>(y(point))});
  }
  return series;
}

// Through the last point of `from`.
ChartSeries square_line(const ChartSeries& from) {
  ChartSeries square{"n²", from.points, from.color, /*is_reference=*/true};
  const ChartPoint last = from.points.back();
  for (ChartPoint& point : square.points) {
    point.y = last.y * std::pow(point.x / last.x, 2.0);
  }
  return square;
}

// Seconds, or counts.
template <class Number, class Words>
LessonColumn cost_column(const char* key, const char* heading, const std::vector<CostPoint>& points,
                         const Number& number, const Words& words) {
  LessonColumn column{key, heading, {}};
  constexpr bool kIsCount = std::is_integral_v<std::invoke_result_t<Number, const CostPoint&>>;
  for (const CostPoint& point : points) {
    const auto value = static_cast<double>(number(point));
    column.cells.push_back({words(number(point)), value, kIsCount});
  }
  return column;
}

LineChart log_chart(const char* title, const char* y, ChartUnit unit, ChartSeries naive,
                    ChartSeries blocked) {
  LineChart chart{title,
                  {"n tokens", ChartScale::kLog2},
                  {y, ChartScale::kLog10},
                  {std::move(naive), std::move(blocked)}};
  chart.x.is_count = true;
  chart.y.unit = unit;
  chart.series.push_back(square_line(chart.series.front()));
  fit_axes(chart);
  return chart;
}

}  // namespace

Lesson cost_lesson(const LessonRequest& request) {
  CostRequest wanted;
  wanted.seed = request.seed;
  wanted.report = request.report;
  const std::vector<CostPoint> points = measure_cost(wanted);
  using Point = CostPoint;
  const auto naive_seconds = [](const Point& p) { return p.naive_seconds; };
  const auto blocked_seconds = [](const Point& p) { return p.blocked_seconds; };
  const auto naive_bytes = [](const Point& p) { return p.naive_bytes; };
  const auto blocked_bytes = [](const Point& p) { return p.blocked_bytes; };
  Lesson lesson;
  lesson.title = "cost: what attention takes as texts grow";
  lesson.seed = request.seed;
  lesson.says = {fmt::format(
      "One head of width {}, one thread of this machine. Naive: three plain loops that keep the "
      "whole n x n matrix. Blocks: attnviz's engine, which computes some rows at a time, in cache "
      "and with vector instructions, and forgets them.",
      wanted.d_head)};
  lesson.figure = ChartFigure{
      {log_chart("time", "time", ChartUnit::kSeconds, over_n("naive", 1, points, naive_seconds),
                 over_n("blocks", 0, points, blocked_seconds)),
       log_chart("memory beside Q, K, V", "memory", ChartUnit::kBytes,
                 over_n("naive", 1, points, naive_bytes),
                 over_n("blocks", 0, points, blocked_bytes))},
      lesson.title,
      {}};
  lesson.table = {
      cost_column(
          "n_tokens", "n", points, [](const Point& p) { return p.n_tokens; }, grouped),
      cost_column("naive_seconds", "naive: time", points, naive_seconds, duration),
      cost_column("blocked_seconds", "blocks: time", points, blocked_seconds, duration),
      cost_column("naive_bytes", "naive: memory", points, naive_bytes, rounded_bytes),
      cost_column("blocked_bytes", "blocks: memory", points, blocked_bytes, rounded_bytes)};
  const Point& last = points.back();
  lesson.ends = {fmt::format(
      "Twice the text is four times the work, either way: every token meets every token. At n = {} "
      "blocks are {:.1f} times faster and take {} instead of {}, for memory need not grow with n².",
      grouped(last.n_tokens), last.naive_seconds / last.blocked_seconds,
      rounded_bytes(last.blocked_bytes), rounded_bytes(last.naive_bytes))};
  return lesson;
}

}  // namespace attnviz
