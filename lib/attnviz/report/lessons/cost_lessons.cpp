#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/analysis/model_shape.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/text/files/load_tokenizer.h"

namespace attnviz {

namespace {

struct NamedShape {
  const char* name;
  ModelShape shape;
};

DescribedModel described(RandomShape attention, std::size_t n_vocab, std::size_t n_ctx,
                         std::size_t d_ff) {
  DescribedModel model;
  model.attention = attention;
  model.n_vocab = n_vocab;
  model.n_ctx = n_ctx;
  model.d_ff = d_ff;
  return model;
}

// Sizes from the config.json of each model.
std::vector<NamedShape> known_shapes(const Model& demo) {
  DescribedModel gpt2 = described({12, 12, 12, 768, 64}, 50257, 1024, 3072);
  gpt2.tied = true;
  DescribedModel llama2 = described({32, 32, 32, 4096, 128}, 32000, 4096, 11008);
  DescribedModel llama3 = described({32, 32, 8, 4096, 128}, 128256, 8192, 14336);
  llama2.gated = true;
  llama3.gated = true;
  return {{"demo", model_shape(demo)},
          {"GPT-2 small", model_shape(gpt2)},
          {"Llama 2 7B", model_shape(llama2)},
          {"Llama 3 8B", model_shape(llama3)}};
}

// With the same prefixes as the chart's axis.
std::string count_words(double number) {
  return number < 1e18 ? rounded_amount(static_cast<std::size_t>(number))
                       : fmt::format("{:.2g}", number);
}

// A sentence repeated until the context is full.
std::vector<std::uint32_t> read_ids(std::size_t count) {
  const std::vector<TokenId> sentence =
      demo_tokenizer()->tokenize("The cat sat on the mat because it was tired.").ids();
  std::vector<std::uint32_t> ids = {sentence.front()};
  for (std::size_t i = 0; ids.size() < count; ++i) {
    ids.push_back(sentence[1 + i % (sentence.size() - 1)]);
  }
  return ids;
}

LineChart generation_chart(const PassCosts& costs, std::size_t n_tokens) {
  LineChart chart{"multiplications in total, GPT-2 small",
                  {"tokens written", ChartScale::kLog2},
                  {"multiplications", ChartScale::kLog10},
                  {{"without cache", {}, 1}, {"with cache", {}, 0}}};
  chart.x.is_count = chart.y.is_count = true;
  for (std::size_t n = 1; n <= n_tokens; n *= 2) {
    const GenerationCosts sum = generation_costs(costs, n);
    chart.series[0].points.push_back({static_cast<double>(n), sum.without_cache});
    chart.series[1].points.push_back({static_cast<double>(n), sum.with_cache});
  }
  fit_axes(chart);
  return chart;
}

LineChart time_chart(const GenerationTimes& times) {
  LineChart chart{"time in total, demo model, measured here",
                  {"tokens written"},
                  {"time"},
                  {{"without cache", {}, 1}, {"with cache", {}, 0}}};
  chart.x.is_count = true;
  for (std::size_t i = 0; i < times.with_cache.size(); ++i) {
    const auto n = static_cast<double>(i + 1);
    chart.series[0].points.push_back({n, times.without_cache[i]});
    chart.series[1].points.push_back({n, times.with_cache[i]});
  }
  chart.y.unit = ChartUnit::kSeconds;
  fit_axes(chart);
  return chart;
}

}  // namespace

Lesson cache_lesson(const LessonRequest& request) {
  constexpr std::size_t kWritten = 1000;
  constexpr std::size_t kRead = 192;
  constexpr std::size_t kHalf = 2;  // bytes of a 16-bit number
  const Model demo = demo_model();
  const std::vector<NamedShape> shapes = known_shapes(demo);
  AttentionRequest attention;
  attention.n_threads = request.n_threads;
  attention.report = request.report;
  const GenerationTimes times =
      measure_generation(demo, read_ids(std::min(kRead, demo.config.n_ctx)), attention);
  Lesson lesson;
  lesson.title = "cache: what keeping keys and values saves";
  lesson.says = {
      "A model writes one token at a time, and the keys and values of earlier tokens do not "
      "change, so they can be kept. With this cache each step computes one token; without it, each "
      "step computes the whole text again."};
  lesson.figure = ChartFigure{
      {generation_chart(pass_costs(shapes[1].shape), 1024), time_chart(times)}, lesson.title, {}};
  std::array<LessonColumn, 7> columns = {LessonColumn{"model", "", {}},
                                         LessonColumn{"with_cache", "with", {}},
                                         LessonColumn{"without_cache", "without", {}},
                                         LessonColumn{"saved_factor", "ratio", {}},
                                         LessonColumn{"bytes_per_token", "cache per token", {}},
                                         LessonColumn{"context", "context", {}},
                                         LessonColumn{"bytes_at_context", "when full", {}}};
  for (const NamedShape& named : shapes) {
    const GenerationCosts sum = generation_costs(pass_costs(named.shape), kWritten);
    const std::size_t token = kept_bytes(named.shape, 1, kHalf);
    const std::size_t full = kept_bytes(named.shape, named.shape.n_ctx, kHalf);
    const double factor = sum.without_cache / sum.with_cache;
    const auto size = [](std::size_t bytes) {
      return count_cell(static_cast<double>(bytes), rounded_bytes(bytes));
    };
    const std::array<LessonCell, 7> row = {
        LessonCell{named.name},
        count_cell(sum.with_cache, count_words(sum.with_cache)),
        count_cell(sum.without_cache, count_words(sum.without_cache)),
        number_cell(factor, fmt::format("{:.0f} ×", factor)),
        size(token),
        count_cell(static_cast<double>(named.shape.n_ctx), grouped(named.shape.n_ctx)),
        size(full)};
    for (std::size_t i = 0; i < row.size(); ++i) {
      columns[i].cells.push_back(row[i]);
    }
  }
  lesson.table.assign(columns.begin(), columns.end());
  lesson.ends = {
      fmt::format("With, without: multiplications to write {} tokens with and without the cache. "
                  "Cache: keys and values of all layers, 16 bits each. Llama 3 8B keeps a quarter "
                  "as much for each token as Llama 2 7B, because four query heads share one head "
                  "of keys and values (grouped-query attention).",
                  grouped(kWritten)),
      fmt::format("The demo model writes {} tokens in {:.0f} ms with the cache, {:.0f} ms without.",
                  times.with_cache.size(), 1e3 * times.with_cache.back(),
                  1e3 * times.without_cache.back())};
  return lesson;
}

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

// A quadratic curve through the last point of `from`.
ChartSeries square_line(const ChartSeries& from) {
  ChartSeries square{"n²", from.points, from.color, /*is_reference=*/true};
  const ChartPoint last = from.points.back();
  for (ChartPoint& point : square.points) {
    point.y = last.y * std::pow(point.x / last.x, 2.0);
  }
  return square;
}

// A column of seconds or counts.
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
  lesson.title = "cost: what attention costs as texts grow";
  lesson.seed = request.seed;
  lesson.says = {
      fmt::format("One head of width {}, one thread on this machine. Naive: three plain loops that "
                  "keep the whole n × n matrix. Blocks: attnviz's engine, which computes a few "
                  "rows at a time in cache, with vector instructions, and does not keep them.",
                  wanted.d_head)};
  lesson.figure = ChartFigure{
      {log_chart("time", "time", ChartUnit::kSeconds, over_n("naive", 1, points, naive_seconds),
                 over_n("blocks", 0, points, blocked_seconds)),
       log_chart("memory besides Q, K, V", "memory", ChartUnit::kBytes,
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
  lesson.ends = {
      fmt::format("Either way, a text twice as long takes four times the work, because every query "
                  "is compared with every key. At n = {}, blocks are {:.1f} times as fast and need "
                  "{} instead of {}: memory does not have to grow with n².",
                  grouped(last.n_tokens), last.naive_seconds / last.blocked_seconds,
                  rounded_bytes(last.blocked_bytes), rounded_bytes(last.naive_bytes))};
  return lesson;
}

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
  lesson.says = {
      fmt::format("q · k is a sum of d products. If the numbers are independent, with mean 0 and "
                  "variance 1, each product has variance 1, too, so the sum has variance d. Each "
                  "point is measured on {} random pairs.",
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
      fmt::format("largest weight of softmax over {} keys, on average", samples.n_keys),
      {"d", ChartScale::kLog2},
      {"largest weight"},
      {over_d("not divided", 0, points, [](const Point& p) { return p.plain.largest; }),
       over_d("divided", 1, points, [](const Point& p) { return p.scaled.largest; }),
       reference(over_d("uniform", 0, points, [&](const Point&) { return 1.0 / n_keys; }))}};
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
      "At d = {0}, scores have a standard deviation of about {1:.0f} (√{0}): the largest weight is "
      "{2:.0f} % on average, and softmax has almost no gradient there, which makes learning slow. "
      "Divided by √d, they have a standard deviation of 1 for any d, and the largest weight is "
      "{3:.0f} % on average. The entropy, which says how spread out the weights are, is {4:.2f} "
      "bits without the division and {5:.2f} bits with it, of at most {6:.0f}.",
      wide.d, std::sqrt(static_cast<double>(wide.d)), 100.0 * wide.plain.largest,
      100.0 * wide.scaled.largest, wide.plain.entropy_bits, wide.scaled.entropy_bits,
      std::log2(n_keys))};
  return lesson;
}

}  // namespace attnviz
