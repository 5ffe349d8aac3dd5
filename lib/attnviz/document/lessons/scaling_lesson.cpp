#include <fmt/core.h>

#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "attnviz/analysis/lessons/scaling.h"
#include "attnviz/document/lessons/lesson.h"
#include "attnviz/document/words/short_numbers.h"

namespace attnviz {

namespace {

constexpr std::array<std::size_t, 10> kWidths = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

template <class Y>
ChartSeries over_d(const char* name, std::size_t color, const std::vector<ScalingPoint>& points,
                   const Y& y) {
  ChartSeries series{name, {}, color};
  for (const ScalingPoint& point : points) {
    series.points.push_back({static_cast<double>(point.d), y(point)});
  }
  return series;
}

ChartSeries reference(ChartSeries series) {
  series.is_reference = true;
  return series;
}

template <class Number>
LessonColumn column(const char* key, const char* heading, const std::vector<ScalingPoint>& points,
                    const char* format, const Number& number, bool is_shown = true) {
  LessonColumn made{key, heading, {}, is_shown};
  for (const ScalingPoint& point : points) {
    constexpr bool kIsCount = std::is_integral_v<std::invoke_result_t<Number, const ScalingPoint&>>;
    const auto value = static_cast<double>(number(point));
    made.cells.push_back({fmt::format(fmt::runtime(format), value), value, kIsCount});
  }
  return made;
}

}  // namespace

Lesson scaling_lesson(const LessonRequest& request) {
  const ScalingSamples samples;
  const std::vector<ScalingPoint> points = measure_scaling(kWidths, request.seed, samples);
  const auto n_keys = static_cast<double>(samples.n_keys);
  using Point = ScalingPoint;
  Lesson lesson;
  lesson.title = "scaling: why scores are divided by √d_head";
  lesson.seed = request.seed;
  lesson.says = {fmt::format(
      "q · k is a sum of d products. Of numbers with variance 1 each product has "
      "variance 1, too, so the sum has variance d: measured on {} random pairs a point.",
      grouped(samples.n_queries * samples.n_keys))};
  LineChart spread{
      "variance of q · k",
      {"d", ChartScale::kLog2},
      {"variance", ChartScale::kLog2},
      {over_d("q · k", 0, points, [](const Point& p) { return p.variance; }),
       over_d("q · k ÷ √d", 1, points, [](const Point& p) { return p.variance_scaled; }),
       reference(over_d("theory: d", 0, points,
                        [](const Point& p) { return static_cast<double>(p.d); }))}};
  spread.x.is_count = true;
  fit_axes(spread);
  LineChart sharp{
      fmt::format("largest weight of softmax over {} keys, mean", samples.n_keys),
      {"d", ChartScale::kLog2},
      {"largest weight"},
      {over_d("not divided", 0, points, [](const Point& p) { return p.plain.largest; }),
       over_d("divided", 1, points, [](const Point& p) { return p.scaled.largest; }),
       reference(over_d("all alike", 0, points, [&](const Point&) { return 1.0 / n_keys; }))}};
  sharp.x.is_count = true;
  fit_axes(sharp);
  sharp.y.high = 1.0;
  lesson.figure = ChartFigure{{std::move(spread), std::move(sharp)}, lesson.title, {}};
  lesson.table = {column(
                      "d", "d", points, "{:.0f}", [](const Point& p) { return p.d; }, false),
                  column(
                      "variance", "variance", points, "{:.2f}",
                      [](const Point& p) { return p.variance; }, false),
                  column(
                      "variance_scaled", "divided", points, "{:.3f}",
                      [](const Point& p) { return p.variance_scaled; }, false),
                  column(
                      "largest", "largest", points, "{:.3f}",
                      [](const Point& p) { return p.plain.largest; }, false),
                  column(
                      "largest_scaled", "divided", points, "{:.3f}",
                      [](const Point& p) { return p.scaled.largest; }, false),
                  column(
                      "entropy_bits", "entropy", points, "{:.2f}",
                      [](const Point& p) { return p.plain.entropy_bits; }, false),
                  column(
                      "entropy_bits_scaled", "divided", points, "{:.2f}",
                      [](const Point& p) { return p.scaled.entropy_bits; }, false)};
  const Point& wide = points.back();
  lesson.ends = {fmt::format(
      "At d = {} scores spread {:.0f} to both sides (√d): the largest weight is {:.0f} %, and "
      "softmax has next to no gradient there. Divided by √d they spread 1 whatever d is, and it is "
      "{:.0f} %; entropy {:.2f} and {:.2f} of at most {:.0f} bits.",
      wide.d, std::sqrt(static_cast<double>(wide.d)), 100.0 * wide.plain.largest,
      100.0 * wide.scaled.largest, wide.plain.entropy_bits, wide.scaled.entropy_bits,
      std::log2(n_keys))};
  return lesson;
}

}  // namespace attnviz
