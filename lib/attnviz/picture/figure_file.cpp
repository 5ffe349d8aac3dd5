#include "attnviz/picture/figure_file.h"

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/layouts.h"
#include "attnviz/picture/raster/scene_painter.h"
#include "attnviz/picture/vector/svg_writer.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/lessons/line_chart.h"

namespace attnviz {

namespace {

std::string figure_file(Scene scene, const std::string& title, const FigureStyle& style,
                        std::string facts, FigureFormat format) {
  const std::string figure = fmt::format(
      R"({{"theme": "{}", "cells": "{}", "cell": {}, "dpi": {}{}{}{}}})",
      word_for(kThemes, style.theme), word_for(kCellStyles, style.cells),
      style.cell == 0 ? "null" : std::to_string(style.cell), style.dpi,
      style.width ? fmt::format(R"(, "width": "{}")", written(*style.width)) : "",
      style.values ? "" : R"(, "no_values": true)", style.footer ? "" : R"(, "no_footer": true)");
  return scene_file(std::move(scene), style, format,
                    {{"Title", printable_message(title)},
                     {"Software", "attnviz"},
                     {"attnviz", std::move(facts)},
                     {"attnviz-figure", figure}});
}

}  // namespace

std::string scene_file(Scene scene, const FigureStyle& style, FigureFormat format,
                       std::vector<std::pair<std::string, std::string>> texts) {
  scene.length = style.width;
  return format == FigureFormat::kSvg ? scene_svg(scene, texts)
                                      : scene_png(std::move(scene), *style.fonts, std::move(texts));
}

std::string render_figure(const Heatmap& heatmap, const FigureStyle& style, std::string facts,
                          FigureFormat format) {
  return figure_file(figure_scene(heatmap, style), heatmap.title, style, std::move(facts), format);
}

std::string render_figure(const ArcsFigure& figure, const FigureStyle& style, std::string facts,
                          FigureFormat format) {
  return figure_file(arcs_scene(figure, style), figure.title, style, std::move(facts), format);
}

std::string render_figure(const Heatmap& focus, const BarsSubject& subject,
                          const FigureStyle& style, std::string facts, FigureFormat format) {
  return figure_file(bars_scene(focus, subject, style), focus.title, style, std::move(facts),
                     format);
}

std::string render_figure(const ChartFigure& figure, const FigureStyle& style, std::string facts,
                          FigureFormat format) {
  return figure_file(chart_scene(figure, style), figure.title, style, std::move(facts), format);
}

std::string render_figure(const Overview& overview, const FigureStyle& style, std::string facts,
                          FigureFormat format) {
  return figure_file(overview_scene(overview, style), overview.thumbnails.title, style,
                     std::move(facts), format);
}

PoolGrid figure_grid(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureGrid grid =
      heatmap_grid(style.cells == CellStyle::kMask ? one_panel_a_mask(heatmap) : heatmap, style);
  return {grid.queries.tokens, grid.keys.tokens};
}

OverviewCells figure_cells(const Overview& overview, const FigureStyle& style) {
  const OverviewPlan plan = plan_overview(overview, style);
  const FigureGrid& grid = plan.thumbnails;
  return {{grid.queries.tokens, grid.keys.tokens}, figure_grid(overview.large, plan.large)};
}

}  // namespace attnviz
