#include "attnviz/document/weight_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "attnviz/attention/head_selection.h"

namespace attnviz {

std::string flat_note(const Heatmap& heatmap, const PoolGrid* grid) {
  constexpr std::size_t kFewKeys = 32;  // their cells are large enough to be told apart
  constexpr float kFlatPart = 0.1f;     // of the colours
  constexpr std::size_t kAllBut = 100;  // one weight of so many may lie above
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const ColorScale& scale = heatmap.scale;
  if (scale.kind != ScaleKind::kLinear || heatmap.n_keys() <= kFewKeys) {
    return {};
  }
  const float limit = scale.low + kFlatPart * (scale.high - scale.low);
  std::size_t n_values = 0;
  std::size_t n_above = 0;
  const auto count = [&](std::span<const float> values) {
    for (const float value : values) {
      n_values += value != 0.0f && value != kMasked ? 1u : 0u;
      n_above += value >= limit ? 1u : 0u;
    }
  };
  for (const HeatmapPanel& panel : heatmap.panels) {
    if (grid != nullptr) {
      count(pool(heatmap, panel, grid->queries, grid->keys).values);
      continue;
    }
    for (std::size_t row = 0; row < panel.values.rows; ++row) {
      count(panel.values.row(row));
    }
  }
  return n_values == 0 || n_above * kAllBut > n_values
             ? std::string()
             : fmt::format(
                   "nearly all weights are below {:.3g}: the scale log or row-max shows "
                   "them",
                   limit);
}

bool look_like_scores(const AttentionDocument& document) {
  constexpr float kRounding = 1e-3f;
  if (document.run.dropout > 0.0f || document.difference ||
      document.kind != PatternKind::kWeights) {
    return false;
  }
  return std::ranges::any_of(document.patterns, [](const DocumentPattern& pattern) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      if (std::ranges::any_of(pattern.weights.row(query), [](float number) {
            return number < -kRounding || number > 1.0f + kRounding;
          })) {
        return true;
      }
    }
    return false;
  });
}

std::string row_sum_note(const AttentionDocument& document) {
  constexpr double kTolerance = 1e-3;
  if (document.run.dropout > 0.0f || document.difference || is_before_softmax(document.kind) ||
      is_no_attention(document.kind)) {
    return {};
  }
  std::size_t n_rows = 0;
  std::size_t n_off = 0;
  std::string first;
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      double sum = pattern.sink.empty() ? 0.0 : static_cast<double>(pattern.sink[query]);
      bool blank = sum == 0.0;
      for (std::size_t key = 0; key < pattern.weights.cols; ++key) {
        const float weight = document.sees(query, key) ? pattern.weights(query, key) : 0.0f;
        sum += static_cast<double>(weight);
        blank = blank && weight == 0.0f;
      }
      ++n_rows;
      if (blank || std::abs(sum - 1.0) <= kTolerance) {
        continue;
      }
      if (n_off++ == 0) {
        first =
            fmt::format("{}, query {} {}",
                        document.average ? pattern.title : "head " + head_name(pattern.head), query,
                        std::isfinite(sum) ? fmt::format("sums to {:.3g}", sum)
                                           : std::string("has what is no finite number"));
      }
    }
  }
  return n_off == 0 ? std::string()
                    : fmt::format("{} of {} rows do not sum to 1: {}", n_off, n_rows, first);
}

}  // namespace attnviz
