// Draws single weights on a terminal, in each style.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/color/colormap.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/terminal/page/terminal_palette.h"

namespace attnviz {

/// A value, and the number that the colour scale maps: the value or a share.
struct CellNumber {
  float value;
  float shown;
};

/// One cell of a panel; absent if masked.
using CellValue = std::optional<CellNumber>;

inline CellValue cell_of(const PooledMatrix& matrix, std::size_t row, std::size_t col) {
  if (row >= matrix.rows || !matrix.is_visible(row, col)) {
    return std::nullopt;
  }
  return CellNumber{matrix.value(row, col), matrix.shown(row, col)};
}

/// Draws cells of one width, and their legend.
class CellPainter {
 public:
  /// `scale` must outlive the painter.
  CellPainter(const TerminalOptions& options, const ColorScale& scale, std::size_t cell_width);

  /// Appends one cell of cell_width columns. In a cell of several lines only one shows the value.
  void cell(Line& line, CellValue value, bool show_value);

  /// Appends one column with two cells, one above the other. Requires colours.
  void two_cells(Line& line, CellValue upper, CellValue lower);

  /// Legend items: the scale, with its ends marked if cells lie beyond them; the whole that values
  /// are shares of; masked cells; and NaN if one was drawn. Each is at most `columns` wide.
  std::vector<Line> legend(const std::string& masked_name, std::string_view value_name,
                           std::size_t columns) const;

  /// A square-root or log scale with round numbers and its ends below it; else empty.
  Page ticked_scale(std::size_t columns) const;

 private:
  bool colored() const { return options_.color != ColorDepth::kNone; }
  bool blocks() const { return options_.style == TerminalStyle::kBlocks && colored(); }
  bool ticked() const {
    return options_.style != TerminalStyle::kNumbers && options_.style != TerminalStyle::kMask &&
           (scale_.kind == ScaleKind::kSqrt || scale_.kind == ScaleKind::kLog);
  }
  std::span<const std::string_view> ramp() const;
  std::string_view sign(float t) const;
  void take(CellValue value);
  Style ink(float t) const;
  Style fill(float t) const { return {.fill = palette_.color(t)}; }
  void bar(Line& line, std::size_t columns) const;
  std::optional<Line> scale_item(std::size_t columns) const;
  Line masked_item(const std::string& name) const;
  Line nan_item() const;

  TerminalOptions options_;
  Charset charset_;
  const ColorScale& scale_;
  TerminalPalette palette_;
  std::size_t width_;
  NumberFormat format_;
  bool blank_masked_;  // otherwise a dot
  bool saw_nan_ = false;
  OpenEnds open_;
};

}  // namespace attnviz
