// The legend of a heatmap's figure: the colour bar with its ticks and name, and swatches.
#pragma once

#include <string>
#include <vector>

#include "attnviz/color/color_scale.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_labels.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

/// Which colours a legend names besides the scale's, and which ends of the scale are open.
struct FigureSwatches {
  bool visible = false;  // cells that exist, where that is all they show
  bool masked = false;   // cells that do not
  bool nan = false;      // visible cells without a number
  OpenEnds open;         // of matrices that nobody kept: those that weights may go beyond

  FigureSwatches(const Heatmap& heatmap, const FigureStyle& style);
};

/// To the right of the panels the bar is upright; below them it is level, which leaves narrow
/// figures to their cells.
enum class LegendPlace { kBeside, kBelow };

class FigureLegend {
 public:
  /// For panels that take `body_length` pixels along the bar, with discs of at most `disc` pixels
  /// in their cells, or none: 0. `heatmap`, `style` and `swatches` must outlive it.
  FigureLegend(const Heatmap& heatmap, const FigureStyle& style, const FigureSwatches& swatches,
               LegendPlace place, int body_length, int disc);

  /// What it takes from left to right: of a legend below the panels the least.
  int width() const noexcept { return width_; }

  /// Places it with its upper left corner at (area.x, area.y); ticks' labels reach up to `top` at
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

  // A colour that is named, and where the layout keeps it.
  struct Swatch {
    std::string name;
    PixelRect FigureLayout::*rect = nullptr;  // null: it is that of a role
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
