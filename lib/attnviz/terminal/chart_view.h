// Line charts on a terminal: in dots, or in 7-bit signs.
#pragma once

#include <cstddef>

#include "attnviz/document/lessons/line_chart.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// The charts, without the figure's title and notes, side by side where there is room for all, in
/// lines of at most options.columns (at least 20 are assumed). Plots are `rows` high; each chart
/// takes three lines more. Each line's name stands at its end.
Page chart_page(const ChartFigure& figure, const TerminalOptions& options, std::size_t rows = 9);

}  // namespace attnviz
