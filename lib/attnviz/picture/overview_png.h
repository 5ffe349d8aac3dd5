// Overviews as PNG.
#pragma once

#include <string>

#include "attnviz/document/overview.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

/// The bytes of a PNG file: the grid of thumbnails with the numbers of layers and heads, the chosen
/// one framed, and that head as render_png draws one, with the colour bar of both. Tells of itself
/// what render_png tells. Throws as render_png.
std::string render_png(const Overview& overview, const FigureStyle& style = {},
                       std::string facts = {});

/// How render_png cuts its parts. Throws Error{kUsage} for a picture that is too large.
OverviewCells figure_cells(const Overview& overview, const FigureStyle& style = {});

}  // namespace attnviz
