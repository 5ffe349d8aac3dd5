#include "attnviz/picture/layout/grid_of_heatmap.h"

#include "attnviz/color/color_ticks.h"

namespace attnviz {

namespace {

bool pools(const FigureGrid& grid) {
  return grid.queries.tokens.pooled() || grid.keys.tokens.pooled();
}

}  // namespace

int columns_of_numbers(const Heatmap& heatmap) {
  return static_cast<int>(cell_numbers(heatmap.scale.low, heatmap.scale.high).columns);
}

int least_cell(const Heatmap& heatmap, const FigureStyle& style) {
  return style.cells == CellStyle::kNumbers
             ? columns_of_numbers(heatmap) * kSmallestNumber + kAroundNumber + 2
             : 1;
}

FigureGrid grid_of(const Heatmap& heatmap, const FigureStyle& style, std::optional<int> room) {
  FigureGrid grid = choose_grid(heatmap.panels.size(), {heatmap.n_queries(), heatmap.first_query},
                                {heatmap.n_keys(), heatmap.first_key}, heatmap.panels_together,
                                style, room, least_cell(heatmap, style));
  return grid;
}

bool must_be_whole(const Heatmap& heatmap, const FigureStyle& style, const FigureGrid& grid) {
  return style.cells == CellStyle::kNumbers && pools(grid) && !pools(grid_of(heatmap, style, {}));
}

FigureGrid whole_grid(const Heatmap& heatmap, const FigureStyle& style) {
  FigureStyle least = style;
  least.width.reset();
  least.cell = least_cell(heatmap, style);
  FigureGrid grid = choose_grid(1, {heatmap.n_queries(), heatmap.first_query},
                                {heatmap.n_keys(), heatmap.first_key}, 1, least);
  grid.rows = heatmap.panels.size();
  return grid;
}

}  // namespace attnviz
