// How a document is drawn when somebody asked for some of it only: the rest follows from the data.
#pragma once

#include <optional>
#include <string>

#include "attnviz/document/attention_document.h"

namespace attnviz {

/// Values [low, high].
struct ValueRange {
  float low = 0.0f;
  float high = 0.0f;

  bool operator==(const ValueRange&) const = default;
};

/// What was asked for; what is absent is chosen.
struct DrawingRequest {
  std::optional<std::string> colormap;
  std::optional<ScaleKind> scale;   // linear
  bool automatic_range = false;     // the range of the data, where none is given
  std::optional<ValueRange> range;  // for ScaleKind::kRowMax shares of the row's largest value
  std::optional<PoolKind> pool;     // auto
  bool drop_sink = false;
  bool no_special = false;
  bool plain_labels = false;
  bool transposed = false;
  std::optional<std::string> title;
};

/// The least and the largest finite weight that a query sees and that `request` draws: without the
/// tokens that the tokenizer added (no_special), or with rows scaled to 1 without their sink
/// (drop_sink). {0, 0} when there is none.
ValueRange value_range(const AttentionDocument& document, const DrawingRequest& request = {});

/// Range: as given; else for an automatic one from 0 to the largest value, or with negative values
/// the same to both sides of 0; else what attention weights can take, 0 to 1, or to 1 / (1 -
/// dropout); without the sink 0 to 1. Logarithmic ranges begin at a thousandth of their end.
/// Scores have a range to both sides of 0. Colour map: as given; else blue-red for an automatic
/// range with negative values, and viridis. Throws Error{kUsage} for a map that does not exist, a
/// scale that cannot be drawn, and drop_sink beside no_special.
Drawing choose_drawing(const DrawingRequest& request, const AttentionDocument& document);

/// Whether the range follows from the data.
bool needs_values(const DrawingRequest& request) noexcept;

/// The same for a run with `dropout` whose weights nobody keeps; `values` is their range, where
/// needs_values() is true.
Drawing choose_drawing(const DrawingRequest& request, float dropout, const ValueRange& values);

/// The document's own drawing with what was asked for changed in it. The range stays where the new
/// scale can take it. Throws as choose_drawing does.
Drawing changed_drawing(const DrawingRequest& request, const AttentionDocument& document);

}  // namespace attnviz
