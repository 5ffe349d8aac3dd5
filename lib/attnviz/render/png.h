// Heatmaps as PNG.
#pragma once

#include <string>

#include "attnviz/render/figure_style.h"
#include "attnviz/render/heatmap.h"
#include "attnviz/render/pooling.h"

namespace attnviz {

/// The picture as the bytes of a PNG file: a grid of panels with titles, query labels on the left,
/// key labels, named axes, one colour bar. At most about 4096 pixels a side at 96 dpi; more cells
/// than that are pooled (each pixel the largest weight under it, or the mean) and the picture says
/// so. Cells that do not exist are grey, hatched where there is room; NaN has a colour of its own.
///
/// The file tells its resolution and, as iTXt chunks, `Title`, `Software`, the style as JSON in
/// `attnviz-figure` and, where heatmap.facts is not empty, these as `attnviz`. The same heatmap
/// with the same style gives the same bytes.
///
/// Throws Error{kUsage} for a heatmap or a style that check() refuses, and for a picture of more
/// than kMostPixels, before memory is taken.
std::string render_png(const Heatmap& heatmap, const FigureStyle& style = {});

/// How render_png cuts the panels into cells; looks at no weight. Throws Error{kUsage} for a
/// picture that is too large.
PoolGrid figure_grid(const Heatmap& heatmap, const FigureStyle& style = {});

}  // namespace attnviz
