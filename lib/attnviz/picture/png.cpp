#include "attnviz/picture/png.h"

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/document/overview.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_scene.h"
#include "attnviz/picture/layout/overview_layout.h"
#include "attnviz/picture/raster/scene_painter.h"

namespace attnviz {

namespace {

std::string figure_png(Scene scene, const std::string& title, const FigureStyle& style,
                       std::string facts) {
  const std::string figure =
      fmt::format(R"({{"theme": "{}", "cell": {}, "dpi": {}}})", word_for(kThemes, style.theme),
                  style.cell == 0 ? "null" : std::to_string(style.cell), style.dpi);
  return scene_png(std::move(scene), *style.fonts,
                   {{"Title", printable_message(title)},
                    {"Software", "attnviz"},
                    {"attnviz", std::move(facts)},
                    {"attnviz-figure", figure}});
}

}  // namespace

std::string render_png(const Heatmap& heatmap, const FigureStyle& style, std::string facts) {
  return figure_png(figure_scene(heatmap, style), heatmap.title, style, std::move(facts));
}

std::string render_png(const Overview& overview, const FigureStyle& style, std::string facts) {
  return figure_png(overview_scene(overview, style), overview.thumbnails.title, style,
                    std::move(facts));
}

PoolGrid figure_grid(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureGrid grid = heatmap_grid(heatmap, style);
  return {grid.queries.tokens, grid.keys.tokens};
}

OverviewCells figure_cells(const Overview& overview, const FigureStyle& style) {
  const OverviewGrid places(overview.heads);
  const FigureGrid grid =
      thumbnail_figure_grid(places.layers.size(), places.heads.size(), overview.thumbnails, style);
  return {{grid.queries.tokens, grid.keys.tokens}, figure_grid(overview.large, style)};
}

}  // namespace attnviz
