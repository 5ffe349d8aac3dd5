#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/lessons/cache_savings.h"
#include "attnviz/analysis/model_shape.h"
#include "attnviz/document/lessons/lesson.h"
#include "attnviz/document/words/short_numbers.h"
#include "attnviz/model/hugging_face.h"
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

// Sizes as their config.json has them.
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

// With the prefixes that the chart's axis has, too.
std::string count_words(double number) {
  return number < 1e18 ? rounded_amount(static_cast<std::size_t>(number))
                       : fmt::format("{:.2g}", number);
}

// A sentence that goes on until the context is full.
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
  LineChart chart{"multiplications in all, GPT-2 small",
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
  LineChart chart{"time in all, demo model, measured here",
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
  constexpr std::size_t kHalf = 2;  // bytes of a number with 16 bits
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
      "A model writes token by token, and what it has read does not change: keys and values of "
      "earlier tokens can be kept. Then a step computes one token; without, the whole text anew."};
  lesson.figure = ChartFigure{
      {generation_chart(pass_costs(shapes[1].shape), 1024), time_chart(times)}, lesson.title, {}};
  std::array<LessonColumn, 7> columns = {LessonColumn{"model", "", {}},
                                         LessonColumn{"with_cache", "x with", {}},
                                         LessonColumn{"without_cache", "x without", {}},
                                         LessonColumn{"saved_factor", "saved", {}},
                                         LessonColumn{"bytes_per_token", "cache: a token", {}},
                                         LessonColumn{"context", "context", {}},
                                         LessonColumn{"bytes_at_context", "full", {}}};
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
        number_cell(factor, fmt::format("{:.0f}-fold", factor)),
        size(token),
        count_cell(static_cast<double>(named.shape.n_ctx), grouped(named.shape.n_ctx)),
        size(full)};
    for (std::size_t i = 0; i < row.size(); ++i) {
      columns[i].cells.push_back(row[i]);
    }
  }
  lesson.table.assign(columns.begin(), columns.end());
  lesson.ends = {
      fmt::format("x: multiplications to write {} tokens. Cache: keys and values of all layers, 16 "
                  "bits a number. Llama 3 8B keeps a quarter of Llama 2 7B's a token, for four "
                  "heads share keys and values (grouped queries).",
                  grouped(kWritten)),
      fmt::format("The demo model writes {} tokens in {:.0f} ms with the cache, and in {:.0f} ms "
                  "without.",
                  times.with_cache.size(), 1e3 * times.with_cache.back(),
                  1e3 * times.without_cache.back())};
  return lesson;
}

}  // namespace attnviz
