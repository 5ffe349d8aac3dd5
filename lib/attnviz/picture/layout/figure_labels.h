// The labels of one axis of a heatmap figure: which are shown, how large, in which direction.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// One cell's label. Where not every token has one, its index tells which this is; it stands behind
/// the text, next to the cells.
struct AxisLabel {
  std::string text;   // valid UTF-8 that is safe to show, never empty
  std::string index;  // empty when every token has a label
  std::size_t text_columns = 0;
  std::size_t columns = 0;  // of text, space and index
};

/// Every step-th cell's label, in one size and direction.
struct AxisLabels {
  std::vector<AxisLabel> labels;  // of cell 0, step, 2 * step, …
  std::size_t step = 1;
  std::size_t longest = 0;  // in columns
  int column_width = 0;
  TextAngle angle = TextAngle::kLevel;

  /// Pixels below the panel.
  int height() const noexcept;
};

/// Neighbouring cells whose first tokens are of one role.
struct RoleRun {
  int begin = 0;  // pixels from where the axis begins
  int length = 0;
  std::size_t role = 0;  // its place in LabelRoles::names
};

/// Of tokens with these roles, as LabelRoles has them; none of cells that are nobody's.
std::vector<RoleRun> role_runs(const std::vector<std::size_t>& roles, const CellAxis& axis);

/// Sine and cosine of 45°.
constexpr double kSlope = 0.70710678118654752;

/// Of the rows of a panel: level, as large as the rows are high; small at every k-th row, k a round
/// number, where they are lower than text. `raw` are the pieces of all tokens. Without indices: the
/// pieces say which they are, as "H12" does.
AxisLabels query_axis_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                             const FigureStyle& style, bool with_indices = true);

/// Of the columns of a panel: level where all fit side by side, else rising; at most as large as
/// those of `queries`, and where both are thinned of tokens that have a label there, too.
AxisLabels key_axis_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                           const FigureStyle& style, const AxisLabels& queries,
                           bool with_indices = true);

}  // namespace attnviz
