#include "attnviz/document/lessons/lesson.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

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

}  // namespace attnviz
