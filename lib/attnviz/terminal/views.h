// What a terminal shows of figures and reports.
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

/// Lines of text, none wider than options.columns (at least 20 are assumed): queries, lines of
/// dots, keys; the denser a line, the stronger. Groups have colours; where there are none, or lines
/// would hide each other, each group is a panel of its own. With TerminalStyle::kArcsAscii a list
/// of the strongest edges of each group in the order of the text, 7-bit.
Page arcs_page(const ArcsFigure& figure, const TerminalOptions& options);

/// Lines, none wider than options.columns (at least 20 are assumed): a list of bars
/// for each row of `focus`, as many side by side as fit, tokens in the order of the text. Of more
/// tokens than a screen holds those with the largest weights, and what the others have. All bars
/// have one scale, which the legend tells. Styles kAscii and kMask are 7-bit.
Page bars_page(const Heatmap& focus, const BarsSubject& subject, const TerminalOptions& options);

/// The charts, without the figure's title and notes, side by side where there is room for all, in
/// lines of at most options.columns (at least 20 are assumed). Plots are `rows` high; each chart
/// takes three lines more. Each line's name stands at its end.
Page chart_page(const ChartFigure& figure, const TerminalOptions& options, std::size_t rows = 9);

/// The picture in lines of which none is wider than options.columns (at least 20 are assumed).
/// Several panels are small multiples, as many side by side as fit; one panel is drawn large. Row
/// and column labels always; then a legend. What does not fit is shortened, then shrunk, then
/// pooled (each cell the largest weight under it), and the legend says so. kAscii and kMask are
/// 7-bit.
Page heatmap_page(const Heatmap& heatmap, const TerminalOptions& options);

/// How heatmap_page cuts the panels into cells; looks at no weight.
PoolGrid terminal_grid(const Heatmap& heatmap, const TerminalOptions& options);

/// Thumbnails in rows of layers and columns of heads, the chosen one in brackets; below them why it
/// was chosen, and that head as heatmap_page draws one. Thumbnails are pooled to 5 to 16 columns
/// so that the grid is no higher than a screen where it can be; heads that do not fit side by side
/// even then come in groups of about the same size. TerminalStyle::kNumbers has its numbers in the
/// large head only; kAscii is 7-bit. Lines as heatmap_page has them.
///
/// Precondition: not TerminalStyle::kMask, which has nothing to tell heads apart by.
Page overview_page(const Overview& overview, const TerminalOptions& options);

/// How overview_page cuts its parts.
OverviewCells terminal_cells(const Overview& overview, const TerminalOptions& options);

/// The report in lines of at most options.columns (at least those of wide_enough()).
Page report_page(const Report& report, const TerminalOptions& options);

/// The report as JSON, or as that page.
void write_report(const Report& report, bool as_json, const TerminalOptions& options,
                  const ByteSink& sink);

}  // namespace attnviz
