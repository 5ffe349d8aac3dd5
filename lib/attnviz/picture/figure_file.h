// Figures as picture files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/steps/inspection_document.h"

namespace attnviz {

struct ArcsFigure;     // document/figures.h
struct BarsSubject;    // document/patterns/focus_bars.h
struct ChartFigure;    // document/lessons/line_chart.h
struct Overview;       // document/figures.h
struct OverviewCells;  // the same

enum class FigureFormat { kPng, kSvg };

/// Returns a heatmap as a picture file: a grid of panels with titles, query labels on the left, key
/// labels, named axes, one colour bar. At most about 4096 pixels a side at 96 dpi; more cells than
/// that are pooled (each pixel shows the largest weight under it, or the mean) and the picture says
/// so. Cells that do not exist are grey, hatched where space allows; NaN has its own colour.
///
/// The file states its resolution and, as iTXt chunks or in its <metadata>, `Title`, `Software`,
/// the style as JSON in `attnviz-figure` and, unless it is empty, `facts` (the picture's sources,
/// as JSON) as `attnviz`. The same heatmap, style and facts give the same bytes.
///
/// Throws Error{kUsage} for a heatmap or a style that check() refuses, and for a picture of more
/// than kMostPixels, before memory is allocated.
std::string render_figure(const Heatmap& heatmap, const FigureStyle& style = {},
                          std::string facts = {}, FigureFormat format = FigureFormat::kPng);

/// The same for an overview: the grid of thumbnails with the numbers of layers and heads, the
/// chosen one framed, and that head drawn like a single heatmap, with one colour bar for both.
std::string render_figure(const Overview& overview, const FigureStyle& style = {},
                          std::string facts = {}, FigureFormat format = FigureFormat::kPng);

/// The same for lines between tokens: see arcs_scene().
std::string render_figure(const ArcsFigure& figure, const FigureStyle& style = {},
                          std::string facts = {}, FigureFormat format = FigureFormat::kPng);

/// The same for one token's bars: see bars_scene().
std::string render_figure(const Heatmap& focus, const BarsSubject& subject,
                          const FigureStyle& style = {}, std::string facts = {},
                          FigureFormat format = FigureFormat::kPng);

/// The same for line charts: see chart_scene().
std::string render_figure(const ChartFigure& figure, const FigureStyle& style = {},
                          std::string facts = {}, FigureFormat format = FigureFormat::kPng);

/// Renders any scene in the style's fonts; `texts` are pairs of a keyword and its text.
std::string scene_file(Scene scene, const FigureStyle& style, FigureFormat format,
                       std::vector<std::pair<std::string, std::string>> texts);

/// Returns how render_figure() divides the panels into cells, without reading weights. Throws
/// Error{kUsage} for a picture that is too large.
PoolGrid figure_grid(const Heatmap& heatmap, const FigureStyle& style = {});
OverviewCells figure_cells(const Overview& overview, const FigureStyle& style = {});

// One query as a figure: every step with its formula, its shapes and its numbers as colours.

/// Returns the page as a picture file, steps from top to bottom, heads below each other. Vectors
/// are rows of cells, from blue (negative) over white to red, with numbers where they fit; weights
/// are bars. It shows everything that the terminal's page says except the matrices of page.full.
/// The same page with the same fonts gives the same bytes. Throws Error{kUsage} when the heads make
/// the picture too high.
std::string render_inspection_figure(const InspectionPage& page, const FigureStyle& style = {},
                                     FigureFormat format = FigureFormat::kPng);

}  // namespace attnviz
