// Where everything in a heatmap figure goes, computed before anything is painted.
#pragma once

#include <vector>

#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// The blank ring around every figure, in pixels at 96 dpi.
constexpr int kFigureMargin = 14;

/// A tick, and the gap between it and its label, in pixels at 96 dpi.
constexpr int kTickLength = 4;
constexpr int kLabelGap = 3;

/// From the edge of a panel or the colour bar to a label: outline, tick, gap.
inline int tick_room(const FigureStyle& style) noexcept {
  return style.pixels(1) + style.pixels(kTickLength) + style.pixels(kLabelGap);
}

/// All in the figure's own pixels.
struct FigureLayout {
  int width = 0;
  int height = 0;
  int margin = 0;  // the blank ring
  int line = 1;    // the thickness of outlines and ticks
  FigureGrid grid;
  std::vector<PixelRect> panels;  // the cells of each panel, in the heatmap's order
  PixelRect color_bar;       // low at its bottom, or on the left; empty where cells have no scale
  PixelRect visible_swatch;  // of CellStyle::kMask
  PixelRect masked_swatch;   // empty when no cell is masked
  PixelRect nan_swatch;      // empty when every visible weight is a number
  struct Band {
    PixelRect rect;
    std::size_t role = 0;  // its place in LabelRoles::names
  };
  std::vector<Band> bands;  // beside the labels of a chat, and in its legend
  std::vector<PixelRect> ticks;
  std::vector<TextRun> texts;
  int value_column_width = 0;  // of the numbers in the cells; 0: none fit
};

/// The least width of a heatmap's picture, in the figure's own pixels, where it has to fit one.
int least_width(const Heatmap& heatmap, const FigureStyle& style);

/// The grid of a heatmap's panels; with style.width the largest that fits. Throws as choose_grid
/// and check_fits.
FigureGrid heatmap_grid(const Heatmap& heatmap, const FigureStyle& style);

/// Everything lies inside [0, width) x [0, height), the margin stays free, no text touches another,
/// a panel, a tick or the legend. Labels thin out evenly (every k-th, the first among them, each
/// with its index) where cells are smaller than text. Precondition: at least one panel, query and
/// key, and check(style). With style.width the figure is that wide. Throws as heatmap_grid and
/// check_size.
FigureLayout lay_out_figure(const Heatmap& heatmap, const FigureStyle& style = {});

}  // namespace attnviz
