#include "attnviz/picture/overview_png.h"

#include <utility>

#include "attnviz/picture/figure_painter.h"
#include "attnviz/picture/layout/overview_layout.h"
#include "attnviz/picture/png.h"

namespace attnviz {

namespace {

// A frame of `thickness` that begins `distance` outside of `inner`.
void frame(Canvas& canvas, const PixelRect& inner, int distance, int thickness, Rgb color) {
  const int out = distance + thickness;
  const PixelRect outer = {inner.x - out, inner.y - out, inner.width + 2 * out,
                           inner.height + 2 * out};
  canvas.fill({outer.x, outer.y, outer.width, thickness}, color);
  canvas.fill({outer.x, outer.bottom() - thickness, outer.width, thickness}, color);
  canvas.fill({outer.x, outer.y, thickness, outer.height}, color);
  canvas.fill({outer.right() - thickness, outer.y, thickness, outer.height}, color);
}

}  // namespace

std::string render_png(const Overview& overview, const FigureStyle& style, std::string facts) {
  check(overview.thumbnails);
  check(overview.large);
  check(style);
  const OverviewLayout layout = lay_out_overview(overview, style);
  FigureCanvas figure(layout.width, layout.height, style);
  figure.paint(overview.thumbnails, layout.thumbnails, style);
  figure.paint(overview.large, layout.large, style);
  const Rgb color = theme_colors(style.theme).frame;
  const int thickness = style.pixels(kFrameWidth);
  frame(figure.canvas, layout.chosen, 2 * layout.thumbnails.line, thickness, color);
  frame(figure.canvas, layout.swatch, 0, thickness, color);
  return figure.png(overview.thumbnails.title, std::move(facts), style);
}

OverviewCells figure_cells(const Overview& overview, const FigureStyle& style) {
  const OverviewGrid places(overview.heads);
  const FigureGrid grid =
      thumbnail_figure_grid(places.layers.size(), places.heads.size(), overview.thumbnails, style);
  return {{grid.queries.tokens, grid.keys.tokens}, figure_grid(overview.large, style)};
}

}  // namespace attnviz
