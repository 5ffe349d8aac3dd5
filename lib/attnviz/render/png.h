// Heatmaps as PNG.
#pragma once

#include <string>

#include "attnviz/render/figure_style.h"
#include "attnviz/render/heatmap.h"

namespace attnviz {

/// The picture as the bytes of a PNG file: a grid of panels with titles, query labels on the left,
/// key labels, named axes, one colour bar. At most about 4096 pixels a side; more cells than that
/// are pooled (each pixel the largest weight under it) and the picture says so. The same heatmap
/// with the same fonts gives the same bytes. Throws Error{kUsage} for a heatmap that check()
/// refuses.
std::string render_png(const Heatmap& heatmap, const FigureStyle& style = {});

}  // namespace attnviz
