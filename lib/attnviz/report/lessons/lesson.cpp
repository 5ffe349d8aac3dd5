#include "attnviz/report/lessons/lesson.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/core/message.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

Lesson make_lesson(LessonKind kind, const LessonRequest& request) {
  Lesson (*const makers[])(const LessonRequest&) = {scaling_lesson,   heads_lesson, linear_lesson,
                                                    positions_lesson, cost_lesson,  cache_lesson,
                                                    masks_lesson};
  Lesson lesson = makers[static_cast<std::size_t>(kind)](request);
  lesson.kind = kind;
  return lesson;
}

LessonCell number_cell(double number, std::string text) {
  return {std::move(text), number};
}

LessonCell count_cell(double count, std::string text) {
  return {std::move(text), count, true};
}

Heatmap lesson_heatmap(std::vector<LessonPattern> patterns, std::vector<std::string> tokens,
                       std::string title) {
  Heatmap heatmap;
  const auto kept = std::make_shared<std::vector<LessonPattern>>(std::move(patterns));
  heatmap.storage = kept;
  float largest = 0.0f;
  for (const LessonPattern& pattern : *kept) {
    for (std::size_t row = 0; row < pattern.weights.rows(); ++row) {
      largest = std::max(largest, *std::ranges::max_element(pattern.weights.view().row(row)));
    }
    HeatmapPanel panel;
    panel.title = pattern.title;
    panel.values = pattern.weights.view();
    if (pattern.mask) {
      panel.visible = [mask = *pattern.mask](std::size_t query, std::size_t key) {
        return mask.visible(query, key);
      };
      panel.mask = pattern.mask->name();
    }
    heatmap.panels.push_back(std::move(panel));
  }
  constexpr float kFaint = 0.6f;
  heatmap.scale.high =
      largest > 0.0f && largest <= kFaint ? std::ceil(10.0f * largest) / 10.0f : 1.0f;
  heatmap.query_labels = tokens;
  heatmap.key_labels = std::move(tokens);
  heatmap.title = std::move(title);
  return heatmap;
}

namespace {

constexpr std::size_t kMostLines = 6;

// Whether both texts have the same tokens up to the word.
bool begins_alike(const WordContext& a, const WordContext& b) {
  const std::size_t last = a.tokens.back();
  if (last != b.tokens.back()) {
    return false;
  }
  for (std::size_t i = 0; i <= last; ++i) {
    if (a.text.tokens[i].id != b.text.tokens[i].id ||
        a.text.tokens[i].text != b.text.tokens[i].text) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> MeaningDocument::pairs() const {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t a = 0; a < contexts.size(); ++a) {
    for (std::size_t b = a + 1; b < contexts.size(); ++b) {
      all.emplace_back(a, b);
    }
  }
  return all;
}

std::optional<double> MeaningDocument::cosine_at(std::size_t point, std::size_t a,
                                                 std::size_t b) const {
  return cosine(contexts[a].vectors.view().row(point), contexts[b].vectors.view().row(point));
}

std::string meaning_title(const MeaningDocument& document) {
  return fmt::format("meaning of {} in {} ({})", in_quotes(document.word),
                     counted(document.contexts.size(), "text"), model_title(document.model));
}

std::string stream_point_name(std::size_t point) {
  return point == 0 ? "embedding" : fmt::format("layer {}", point - 1);
}

std::string pair_name(std::pair<std::size_t, std::size_t> pair) {
  return fmt::format("{}-{}", pair.first + 1, pair.second + 1);
}

std::vector<std::string> meaning_words(const MeaningDocument& document) {
  std::vector<std::string> words;
  const auto all = document.pairs();
  const std::size_t last = document.n_points() - 1;
  // The pair that is least similar after the last layer.
  auto apart = all.front();
  for (const auto& pair : all) {
    if (document.cosine_at(last, pair.first, pair.second).value_or(1.0) <
        document.cosine_at(last, apart.first, apart.second).value_or(1.0)) {
      apart = pair;
    }
  }
  const auto first = document.cosine_at(0, apart.first, apart.second);
  const auto end = document.cosine_at(last, apart.first, apart.second);
  if (first && end) {
    words.push_back(
        fmt::format("Texts {} and {}: {} in the embedding, {} after the last layer. A similarity "
                    "of 1 means the same direction, 0 a right angle.",
                    apart.first + 1, apart.second + 1, two_decimals(*first), two_decimals(*end)));
  }
  const bool is_causal = !document.run.mask || !document.run.mask->looks_ahead();
  const bool any_alike = std::ranges::any_of(all, [&](const auto& pair) {
    return begins_alike(document.contexts[pair.first], document.contexts[pair.second]);
  });
  if (is_causal && any_alike) {
    words.emplace_back(
        "Texts that are the same up to the word give the same vectors: this model reads from left "
        "to right, so the word cannot see what comes after it.");
  } else if (is_causal) {
    words.emplace_back(
        "This model reads from left to right: only text before the word changes its vectors.");
  }
  return words;
}

ChartFigure meaning_chart(const MeaningDocument& document) {
  const auto all = document.pairs();
  LineChart chart;
  chart.x.name = "number of layers applied (0: the embedding)";
  chart.x.is_count = true;
  chart.y.name = "cosine similarity";
  for (const auto& pair : all) {
    if (all.size() > kMostLines && pair.first > 0) {
      continue;
    }
    if (chart.series.size() == kMostLines) {
      break;
    }
    ChartSeries series{pair_name(pair), {}, chart.series.size()};
    for (std::size_t point = 0; point < document.n_points(); ++point) {
      if (const auto value = document.cosine_at(point, pair.first, pair.second)) {
        series.points.push_back({static_cast<double>(point), *value});
      }
    }
    chart.series.push_back(std::move(series));
  }
  fit_axes(chart);
  chart.x.low = 0.0;
  chart.x.high = static_cast<double>(std::max<std::size_t>(document.n_points() - 1, 1));
  chart.y.high = 1.0;
  ChartFigure figure;
  figure.title = meaning_title(document);
  for (std::size_t i = 0; i < document.contexts.size(); ++i) {
    figure.notes.push_back(fmt::format("{}: {}", i + 1, document.contexts[i].text.source));
  }
  if (chart.series.size() < all.size()) {
    figure.notes.push_back(fmt::format("drawn: {} of {} pairs", chart.series.size(), all.size()));
  }
  figure.notes.insert(figure.notes.end(), document.notes.begin(), document.notes.end());
  figure.charts.push_back(std::move(chart));
  return figure;
}

}  // namespace attnviz
