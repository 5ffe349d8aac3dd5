#include "attnviz/picture/png.h"

#include <utility>

#include "attnviz/picture/figure_painter.h"
#include "attnviz/picture/layout/figure_layout.h"

namespace attnviz {

std::string render_png(const Heatmap& heatmap, const FigureStyle& style, std::string facts) {
  check(heatmap);
  check(style);
  const FigureLayout layout = lay_out_figure(heatmap, style);
  FigureCanvas figure(layout.width, layout.height, style);
  figure.paint(heatmap, layout, style);
  return figure.png(heatmap.title, std::move(facts), style);
}

PoolGrid figure_grid(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureGrid grid = heatmap_grid(heatmap, style);
  return {grid.queries.tokens, grid.keys.tokens};
}

}  // namespace attnviz
