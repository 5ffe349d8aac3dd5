// The labels of one axis of a heatmap figure: which are shown, how large, in which direction. The
// texts of a figure, measured in its fonts, in the colours of its theme; and its legend.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"
#include "attnviz/report/heatmap.h"

namespace attnviz {

/// One cell's label. Where only some tokens have labels, the index identifies them; it follows the
/// text, next to the cells.
struct AxisLabel {
  std::string text;   // valid UTF-8, safe to display, never empty
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

  /// Height in pixels below the panel.
  int height() const noexcept;
};

/// Neighbouring cells whose first tokens have the same role.
struct RoleRun {
  int begin = 0;  // pixels from the start of the axis
  int length = 0;
  std::size_t role = 0;  // its index in LabelRoles::names
};

/// Returns the runs of tokens with these roles, as in LabelRoles; cells without a role are left
/// out.
std::vector<RoleRun> role_runs(const std::vector<std::size_t>& roles, const CellAxis& axis);

/// Sine and cosine of 45°.
constexpr double kSlope = 0.70710678118654752;

/// Labels for the rows of a panel: level, as large as the rows are high; where rows are lower than
/// text, small and only at every k-th row, k a round number. `raw` are the pieces of all tokens.
/// Without indices when the pieces identify themselves, as "H12" does.
AxisLabels query_axis_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                             const FigureStyle& style, bool with_indices = true);

/// Labels for the columns of a panel: level where all fit side by side, else rising; at most as
/// large as those of `queries`, and where both are thinned, for tokens that have a label there,
/// too.
AxisLabels key_axis_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                           const FigureStyle& style, const AxisLabels& queries,
                           bool with_indices = true);

/// Column widths of text, and the space between the parts of a figure, in pixels at 96 dpi.
inline constexpr int kTitleColumn = 9;
inline constexpr int kTextColumn = 7;
inline constexpr int kSpace = 10;

/// Where lines of text stand below each other.
struct TextArea {
  int x = 0;
  int y = 0;
  int room = 0;  // to the right of x
};

/// A number of ASCII digits in the middle of a cell, still without a colour.
TextRun cell_number(TextRole role, std::string text, int column_width, const PixelRect& cell);

/// The ink of numbers on a colour: dark or light.
inline Rgb ink_on(Rgb color) noexcept {
  return dark_text_on(color) ? kDarkNumber : kLightNumber;
}

class FigureTexts {
 public:
  /// The style must outlive it.
  explicit FigureTexts(const FigureStyle& style) : style_(style) {}

  int width(std::string_view text, int column_width) const;

  void add(TextRole role, std::string text, int column_width, int x, int y,
           TextAngle angle = TextAngle::kLevel);
  /// Adds a level text in the middle of `room` pixels from `x` on.
  void add_centred(TextRole role, std::string text, int column_width, int x, int room, int y);

  /// Adds a title, made safe to display and broken into lines that fit the area, at most
  /// `most_lines`; centred, with space below. Returns where the figure continues.
  int add_title(std::string_view text, std::size_t most_lines, const TextArea& area);
  /// The same for notes, with space above; `pooled`, if not empty, is the last one.
  int add_notes(std::vector<std::string> notes, std::string pooled, const TextArea& area);

  std::vector<TextRun> take() noexcept { return std::move(texts_); }

 private:
  int add_lines(TextRole role, std::string_view text, int column_width, std::size_t most_lines,
                const TextArea& area);

  const FigureStyle& style_;
  std::vector<TextRun> texts_;
};

// The legend of a heatmap's figure: the colour bar with its ticks and name, and swatches.

/// Which colours a legend names besides the scale's, and which ends of the scale are open.
struct FigureSwatches {
  bool visible = false;  // visible cells, when cells show nothing else
  bool masked = false;   // cells that do not exist
  bool nan = false;      // visible cells without a number
  OpenEnds open;         // if matrices were not kept: ends that weights may exceed

  FigureSwatches(const Heatmap& heatmap, const FigureStyle& style);
};

/// To the right of the panels the bar is upright; below them it is level, which leaves the width of
/// narrow figures to the cells.
enum class LegendPlace { kBeside, kBelow };

class FigureLegend {
 public:
  /// For panels that take `body_length` pixels along the bar, with discs of at most `disc` pixels
  /// in their cells; 0: no discs. `heatmap`, `style` and `swatches` must outlive it.
  FigureLegend(const Heatmap& heatmap, const FigureStyle& style, const FigureSwatches& swatches,
               LegendPlace place, int body_length, int disc);

  /// Its width; for a legend below the panels, the smallest possible one.
  int width() const noexcept { return width_; }

  /// Places it with its upper left corner at (area.x, area.y); labels of ticks reach up to `top` at
  /// most. Below the panels it is centred in the area's room. Returns where it ends.
  int place(const TextArea& area, int top, FigureLayout& layout, FigureTexts& texts) const;

 private:
  int px(double at_96_dpi) const noexcept { return style_.pixels(at_96_dpi); }
  bool has_bar() const noexcept { return bar_length_ > 0; }
  int line() const noexcept;
  int tick_at(const ColorTick& tick) const noexcept;
  int name_width(const FigureTexts& texts) const;
  int place_upright_bar(const TextArea& area, int top, FigureLayout& layout,
                        FigureTexts& texts) const;
  int place_level_bar(const TextArea& area, FigureLayout& layout, FigureTexts& texts) const;

  // A named colour, and where the layout stores its rectangle.
  struct Swatch {
    std::string name;
    PixelRect FigureLayout::*rect = nullptr;  // null: a role's
    std::size_t role = 0;
  };

  const Heatmap& heatmap_;
  const FigureStyle& style_;
  LegendPlace place_;
  int text_column_;
  int disc_;
  int bar_width_;
  int bar_length_ = 0;
  std::vector<ColorTick> ticks_;
  std::vector<std::string> bar_name_;  // in lines
  std::vector<Swatch> swatches_;
  int width_ = 0;
};

}  // namespace attnviz
