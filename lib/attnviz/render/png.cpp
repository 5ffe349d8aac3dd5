#include "attnviz/render/png.h"

#include "attnviz/render/figure_layout.h"
#include "attnviz/render/figure_painter.h"

namespace attnviz {

std::string render_png(const Heatmap& heatmap, const FigureStyle& style) {
  check(heatmap);
  check(style);
  const FigureLayout layout = lay_out_figure(heatmap, style);
  FigureCanvas figure(layout.width, layout.height, style);
  figure.paint(heatmap, layout, style);
  return figure.png(heatmap, style);
}

PoolGrid figure_grid(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureGrid grid = heatmap_grid(heatmap, style);
  return {grid.queries.tokens, grid.keys.tokens};
}

}  // namespace attnviz
