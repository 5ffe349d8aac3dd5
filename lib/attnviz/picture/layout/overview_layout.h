// Where everything in the figure of an overview goes, computed before anything is painted.
#pragma once

#include <optional>
#include <vector>

#include "attnviz/document/overview.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/pixel_geometry.h"

namespace attnviz {

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
