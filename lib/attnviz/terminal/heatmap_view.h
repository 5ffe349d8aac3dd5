// Heatmaps as text for a terminal: colour blocks, a 7-bit ramp, dots, numbers, or only the mask.
#pragma once

#include "attnviz/analysis/pool_grid.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// The picture in lines of which none is wider than options.columns (at least 20 are assumed).
/// Several panels are small multiples, as many side by side as fit; one panel is drawn large. Row
/// and column labels always; then a legend. What does not fit is shortened, then shrunk, then
/// pooled (each cell the largest weight under it), and the legend says so. kAscii and kMask are
/// 7-bit.
Page heatmap_page(const Heatmap& heatmap, const TerminalOptions& options);

/// How heatmap_page cuts the panels into cells; looks at no weight.
PoolGrid terminal_grid(const Heatmap& heatmap, const TerminalOptions& options);

}  // namespace attnviz
