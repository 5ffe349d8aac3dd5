#include "attnviz/render/figure_grid.h"

#include <algorithm>
#include <cmath>

namespace attnviz {

namespace {

struct Size {
  int width;
  int height;
};

constexpr Size kLargestBody = {3700, 3600};  // all panels; labels, title and notes come on top
constexpr std::size_t kMostCells = 2000;
constexpr int kThinnestPanel = 24;  // a title such as L63H63 fits above it
constexpr int kSmallestPanel = 8;   // thousands of panels: their cells are pooled down to this
constexpr double kWantedAspect = 1.6;

std::size_t divided_up(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

// What all panels together take when there is no need to be larger.
Size usual_body(std::size_t n_panels) {
  if (n_panels == 1) {
    return {1450, 960};
  }
  return n_panels <= 16 ? Size{1900, 1300} : Size{2500, 1700};
}

// Few tokens get large cells, but not so large that the figure fills a wall.
int largest_pitch(std::size_t n_panels, std::size_t n_cells) {
  const int n = static_cast<int>(std::min<std::size_t>(n_cells, 1000));
  return n_panels == 1 ? std::clamp(640 / n, 40, 80) : std::clamp(480 / n, 24, 64);
}

PoolAxis pooled_axis(std::size_t n_tokens, int room) {
  const auto pixels = static_cast<std::size_t>(std::max(room, kSmallestPanel));
  return PoolAxis::at_most(n_tokens, std::min(kMostCells, pixels));
}

int gap_between_cells(int pitch) {
  if (pitch >= 40) {
    return 2;
  }
  return pitch >= 10 ? 1 : 0;
}

int room_a_panel(int body, std::size_t n_panels, int around) {
  return static_cast<int>(static_cast<std::size_t>(body) / n_panels) - around;
}

FigureGrid fill_grid(std::size_t n_panels, std::size_t columns, std::size_t n_queries,
                     std::size_t n_keys) {
  FigureGrid grid;
  grid.columns = columns;
  grid.rows = divided_up(n_panels, columns);
  constexpr int kAbove = kPanelGap + kPanelTitleHeight;
  CellAxis& queries = grid.queries;
  CellAxis& keys = grid.keys;
  queries.tokens = pooled_axis(n_queries, room_a_panel(kLargestBody.height, grid.rows, kAbove));
  keys.tokens = pooled_axis(n_keys, room_a_panel(kLargestBody.width, columns, kPanelGap));
  if (n_queries == n_keys) {  // a square stays one
    queries.tokens.block = keys.tokens.block = std::max(queries.tokens.block, keys.tokens.block);
  }

  const Size body = usual_body(n_panels);
  const int high =
      room_a_panel(body.height, grid.rows, kAbove) / static_cast<int>(queries.n_cells());
  const int wide = room_a_panel(body.width, columns, kPanelGap) / static_cast<int>(keys.n_cells());
  const int most = largest_pitch(n_panels, std::max(queries.n_cells(), keys.n_cells()));
  const int pitch = std::max(1, std::min({high, wide, most}));
  for (CellAxis* axis : {&queries, &keys}) {
    axis->pitch = std::max(pitch, static_cast<int>(divided_up(kThinnestPanel, axis->n_cells())));
  }
  queries.gap = gap_between_cells(std::min(queries.pitch, keys.pitch));
  keys.gap = queries.gap;
  return grid;
}

// Smaller is better.
double misfit(const FigureGrid& grid, std::size_t n_panels, std::size_t together) {
  const auto rows = static_cast<double>(grid.rows);
  const auto columns = static_cast<double>(grid.columns);
  const double width = columns * (grid.keys.length() + kPanelGap);
  const double height = rows * (grid.queries.length() + kPanelGap + kPanelTitleHeight);
  const double empty = (rows * columns) / static_cast<double>(n_panels) - 1.0;
  double torn = keeps_together(grid.columns, together) ? 0.0 : 1.5;
  if (together > 1 && grid.columns > together) {
    torn += 0.5;  // one group a row reads better than two
  }
  return std::abs(std::log(width / height / kWantedAspect)) + 1.5 * empty + torn;
}

}  // namespace

FigureGrid choose_grid(std::size_t n_panels, std::size_t n_queries, std::size_t n_keys,
                       std::size_t together) {
  FigureGrid best = fill_grid(n_panels, 1, n_queries, n_keys);
  double least = misfit(best, n_panels, together);
  for (std::size_t columns = 2; columns <= n_panels; ++columns) {
    const FigureGrid grid = fill_grid(n_panels, columns, n_queries, n_keys);
    const double current = misfit(grid, n_panels, together);
    if (current < least) {
      best = grid;
      least = current;
    }
  }
  return best;
}

}  // namespace attnviz
