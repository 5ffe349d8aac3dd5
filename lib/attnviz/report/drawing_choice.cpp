#include "attnviz/report/attention_heatmap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/core/error.h"
#include "attnviz/report/model_info.h"

namespace attnviz {

namespace {

constexpr float kLogDecades = 1000.0f;  // ratio of the ends of a logarithmic range

ValueRange automatic_range(const ValueRange& values) {
  if (values.low < 0.0f) {
    const float largest = std::max(-values.low, values.high);
    return {-largest, largest};
  }
  return {0.0f, values.high > 0.0f ? values.high : 1.0f};
}

}  // namespace

ValueRange value_range(const AttentionDocument& document, const DrawingRequest& request) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto is_shown = [&request](const TokenMarks& marks, std::size_t token) {
    return !request.no_special || !std::ranges::binary_search(marks.added, token);
  };
  const std::size_t first_key = request.drop_sink && !draws_sinks(document) ? 1 : 0;
  ValueRange range{kInfinity, -kInfinity};
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      if (!is_shown(document.marks, query)) {
        continue;
      }
      const std::span<const float> row = pattern.weights.row(query);
      const double whole =
          request.drop_sink && row.size() > first_key ? sum_of(row.subspan(first_key)) : 1.0;
      for (std::size_t key = first_key; key < row.size(); ++key) {
        const float weight = scaled_by(whole, row[key]);
        const bool widens = weight < range.low || weight > range.high;
        if (widens && std::isfinite(weight) && document.sees(query, key) &&
            is_shown(document.marks_of_keys(), key)) {
          range.low = std::min(range.low, weight);
          range.high = std::max(range.high, weight);
        }
      }
    }
  }
  return range.low <= range.high ? range : ValueRange{};
}

bool needs_values(const DrawingRequest& request) noexcept {
  return request.automatic_range && !request.range &&
         request.scale.value_or(ScaleKind::kLinear) != ScaleKind::kRowMax;
}

Drawing choose_drawing(const DrawingRequest& request, const AttentionDocument& document) {
  if (document.kind == PatternKind::kDecay) {
    if (request.drop_sink) {
      throw Error(
          ErrorKind::kUsage,
          "drop_sink rescales rows of weights to sum to 1; rows of a state's decay do not sum to 1",
          "drop_sink");
    }
    return choose_drawing(request, 0.0f,
                          needs_values(request) ? value_range(document, request) : ValueRange{});
  }
  if (document.kind == PatternKind::kRouter) {
    if (request.drop_sink) {
      throw Error(ErrorKind::kUsage, "drop_sink hides the first token, but experts are not tokens",
                  "drop_sink");
    }
    DrawingRequest up_to_largest = request;
    up_to_largest.automatic_range = true;
    return choose_drawing(up_to_largest, 0.0f, value_range(document, request));
  }
  if (!is_before_softmax(document.kind)) {
    return choose_drawing(request, document.run.dropout,
                          needs_values(request) ? value_range(document, request) : ValueRange{});
  }
  if (request.drop_sink) {
    throw Error(ErrorKind::kUsage,
                "drop_sink rescales rows of weights to sum to 1, but these are scores",
                "drop_sink");
  }
  if (request.scale.value_or(ScaleKind::kLinear) != ScaleKind::kLinear) {
    throw Error(ErrorKind::kUsage,
                "scale: scores have both signs and are always drawn on a linear scale", "scale");
  }
  DrawingRequest around_zero = request;
  around_zero.automatic_range = true;
  ValueRange values = value_range(document, request);
  values.low = -std::max(-values.low, values.high);
  return choose_drawing(around_zero, 0.0f, values);
}

Drawing choose_drawing(const DrawingRequest& request, float dropout, const ValueRange& values) {
  if (request.no_special && request.drop_sink) {
    throw Error(
        ErrorKind::kUsage,
        "no_special keeps rows unchanged and drop_sink rescales them: use only one of the two",
        "no_special");
  }
  const ScaleKind kind = request.scale.value_or(ScaleKind::kLinear);
  ValueRange range{0.0f, 1.0f};
  if (request.range) {
    range = *request.range;
  } else if (kind != ScaleKind::kRowMax) {
    if (needs_values(request)) {
      range = automatic_range(values);
    } else if (!request.drop_sink) {
      range = {0.0f, 1.0f / (1.0f - dropout)};
    }
    if (kind == ScaleKind::kLog) {
      range.low = range.high / kLogDecades;
    }
  }
  const bool is_signed = !request.range && range.low < 0.0f;
  Drawing drawing;
  drawing.scale.colormap = Colormap(request.colormap.value_or(is_signed ? "blue-red" : "viridis"));
  drawing.scale.kind = kind;
  drawing.scale.low = range.low;
  drawing.scale.high = range.high;
  check(drawing.scale);
  drawing.pool = request.pool.value_or(PoolKind::kAuto);
  drawing.drop_sink = request.drop_sink;
  drawing.no_special = request.no_special;
  drawing.plain_labels = request.plain_labels;
  drawing.transposed = request.transposed;
  drawing.title = request.title;
  return drawing;
}

Drawing changed_drawing(const DrawingRequest& request, const AttentionDocument& document) {
  const Drawing& before = document.drawing;
  DrawingRequest all = request;
  all.scale = request.scale.value_or(before.scale.kind);
  // Shares of a row and weights have different units; logarithms need a range above 0.
  const bool same_values =
      (*all.scale == ScaleKind::kRowMax) == (before.scale.kind == ScaleKind::kRowMax);
  if (!all.range && !all.automatic_range && same_values) {
    all.range = ValueRange{before.scale.low, before.scale.high};
    if (*all.scale == ScaleKind::kLog && all.range->low <= 0.0f) {
      all.range->low = all.range->high / kLogDecades;
    }
  }
  if (!all.colormap) {
    all.colormap = before.scale.colormap.name();
  }
  all.pool = request.pool.value_or(before.pool);
  all.drop_sink = request.drop_sink || before.drop_sink;
  all.no_special = request.no_special || before.no_special;
  all.plain_labels = request.plain_labels || before.plain_labels;
  all.transposed = request.transposed || before.transposed;
  if (!all.title) {
    all.title = before.title;
  }
  Drawing drawing = choose_drawing(all, document);
  drawing.focus = before.focus;
  drawing.side_by_side = before.side_by_side;
  return drawing;
}

}  // namespace attnviz
