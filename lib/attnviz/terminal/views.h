// Terminal views of figures and reports.
#pragma once

#include <cstddef>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/lessons/line_chart.h"
#include "attnviz/report/patterns/focus_bars.h"
#include "attnviz/report/reports/report.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Lines of at most options.columns (at least 20 are assumed): queries, lines of dots, keys; denser
/// lines are stronger. Groups have colours; without colours, or if lines would hide each other,
/// each group has its own panel. With TerminalStyle::kArcsAscii a 7-bit list of the strongest edges
/// of each group, in text order.
Page arcs_page(const ArcsFigure& figure, const TerminalOptions& options);

/// Lines of at most options.columns (at least 20 are assumed): a list of bars for each row of
/// `focus`, as many side by side as fit, tokens in text order. If there are more tokens than fit on
/// a screen, only those with the largest weights, and a number for the others. All bars have one
/// scale, stated in the legend. Styles kAscii and kMask are 7-bit.
Page bars_page(const Heatmap& focus, const BarsSubject& subject, const TerminalOptions& options);

/// The charts, without the figure's title and notes, side by side if all fit, in lines of at most
/// options.columns (at least 20 are assumed). Plots are `rows` high; each chart takes three more
/// lines. Each line's name is at its end.
Page chart_page(const ChartFigure& figure, const TerminalOptions& options, std::size_t rows = 9);

/// The picture in lines of at most options.columns (at least 20 are assumed). Several panels are
/// small multiples, as many side by side as fit; a single panel is drawn large. Row and column
/// labels are always present, then a legend. A picture that does not fit is shortened, then shrunk,
/// then pooled (each cell shows the largest weight under it), and the legend says so. kAscii and
/// kMask are 7-bit.
Page heatmap_page(const Heatmap& heatmap, const TerminalOptions& options);

/// The grid that heatmap_page() cuts the panels into; does not depend on weights.
PoolGrid terminal_grid(const Heatmap& heatmap, const TerminalOptions& options);

/// Thumbnails in rows of layers and columns of heads, with the chosen one in brackets; below them
/// the reason for the choice, and that head as in heatmap_page(). Thumbnails are pooled to 5 to 16
/// columns to fit the grid on a screen if possible; heads that still do not fit side by side are
/// split into groups of about equal size. TerminalStyle::kNumbers shows numbers only in the large
/// head; kAscii is 7-bit. Lines as in heatmap_page().
///
/// Precondition: not TerminalStyle::kMask, which cannot distinguish heads.
Page overview_page(const Overview& overview, const TerminalOptions& options);

/// The grids that overview_page() cuts its parts into.
OverviewCells terminal_cells(const Overview& overview, const TerminalOptions& options);

/// The report in lines of at most options.columns (at least those of wide_enough()).
Page report_page(const Report& report, const TerminalOptions& options);

/// Writes the report as JSON, or as that page.
void write_report(const Report& report, bool as_json, const TerminalOptions& options,
                  const ByteSink& sink);

}  // namespace attnviz
