// Where everything of a picture goes, for each kind of figure.
#pragma once

#include <optional>
#include <vector>

#include "attnviz/document/arcs_figure.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/document/lessons/line_chart.h"
#include "attnviz/document/overview.h"
#include "attnviz/document/patterns/focus_bars.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Title, the colours of the groups, panels beside each other as far as they fit, what widths and
/// opacities stand for, and notes. style.cell is the distance of two tokens; without it these stand
/// as far apart as a picture of a usual size allows, at least a pixel. Throws Error{kUsage} for a
/// style that check() refuses and as check_size().
Scene arcs_scene(const ArcsFigure& figure, const FigureStyle& style = {});

/// Title, lists of bars beside each other as far as they fit, and notes. A list is of one head: a
/// row for each token in the order of the text, with its label (once for all lists of a band), its
/// bar and its percentage; all bars have one scale. `focus` is a picture made by focus_heatmap.
/// Throws Error{kUsage} for a style that check() refuses, and as check_size().
Scene bars_scene(const Heatmap& focus, const BarsSubject& subject, const FigureStyle& style = {});

/// Title, charts beside each other as far as they fit, and notes. Each chart has its title, a frame
/// with ticks and faint lines across, the names of its axes, and each line's name at its end.
/// Throws Error{kUsage} for a style that check() refuses and as check_size().
Scene chart_scene(const ChartFigure& figure, const FigureStyle& style = {});

/// All in the figure's own pixels.
struct OverviewLayout {
  int width = 0;
  int height = 0;
  FigureLayout thumbnails;  // without a colour bar; its texts are all that `large` does not have
  FigureLayout large;
  PixelRect chosen;               // the thumbnail that is framed
  PixelRect swatch;               // the frame's sign beside the caption
  std::vector<PixelRect> blanks;  // of layers without attention
};

/// The thickness of the frame around the chosen thumbnail, in pixels at 96 dpi. It stands one
/// pixel outside of the panel's outline.
constexpr int kFrameWidth = 2;

/// How the thumbnails of [n_queries, n_keys] weights are cut, in a grid of so many rows and columns
/// of them. A thumbnail has a side of 24 to 96 pixels at 96 dpi, so that the grid takes about
/// 900 by 900 of them where it can; more tokens than that are pooled. style.cell is not of them.
FigureGrid thumbnail_figure_grid(std::size_t rows, std::size_t columns, const Heatmap& thumbnails,
                                 const FigureStyle& style);

/// How both parts are cut and sized; in a figure of a given width thumbnails fill it, too, and have
/// a side of at least 8 pixels at 96 dpi. Looks at no weight, nor at which head is large. Throws as
/// check_fits.
struct OverviewPlan {
  FigureGrid thumbnails;
  FigureStyle large;           // in which the large head is laid out
  std::optional<bool> beside;  // absent: as the shapes of both parts have it
};
OverviewPlan plan_overview(const Overview& overview, const FigureStyle& style);

/// The thumbnails on the left and the chosen head on the right of them or, where that is nearer to
/// 3:2, below (in a figure of a given width, beside each other where there is much of it); title
/// above, notes below. No text touches another, or a panel. Throws as check_size.
OverviewLayout lay_out_overview(const Overview& overview, const FigureStyle& style = {});

}  // namespace attnviz
