#include "attnviz/picture/layout/figure_grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "attnviz/color/colormap.h"
#include "attnviz/core/error.h"
#include "attnviz/report/heatmap.h"

namespace attnviz {

namespace {

struct Size {
  int width;
  int height;
};

constexpr Size kLargestBody = {3700, 3600};  // all panels, without labels, title and notes
constexpr std::size_t kMostCells = 2000;
constexpr int kThinnestPanel = 24;  // a title such as L63H63 fits above it
constexpr int kSmallestPanel = 8;   // for thousands of panels: cells are pooled to reach it
constexpr double kWantedAspect = 1.6;

// The usual size of all panels together.
Size usual_body(std::size_t n_panels) {
  if (n_panels == 1) {
    return {1450, 960};
  }
  return n_panels <= 16 ? Size{1900, 1300} : Size{2500, 1700};
}

// A few tokens get large cells, but the figure must not fill a wall.
int largest_pitch(std::size_t n_panels, std::size_t n_cells) {
  const int n = static_cast<int>(std::min<std::size_t>(n_cells, 1000));
  return n_panels == 1 ? std::clamp(640 / n, 40, 80) : std::clamp(480 / n, 24, 64);
}

// Returns an axis with cells of `least` pixels or more.
PoolAxis pooled_axis(const GridEntries& entries, int room, int least) {
  const auto cells = static_cast<std::size_t>(std::max(room, kSmallestPanel) / least);
  return PoolAxis::at_most(entries.size, std::clamp<std::size_t>(cells, 1, kMostCells),
                           entries.first);
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

// The panels to be placed, and their constraints.
struct Request {
  std::size_t n_panels;
  GridEntries queries;
  GridEntries keys;
  std::size_t together;
  const FigureStyle& style;
  std::optional<int> room;  // from left to right, in pixels of the figure
  int least_cell;           // in pixels at 96 dpi
};

// Apart from a learned sink among the keys.
bool is_square(const Request& request) {
  const std::size_t n_sinks = request.keys.first.has_sink() ? 1 : 0;
  return request.queries.size + n_sinks == request.keys.size;
}

constexpr int kAbove = kPanelMargin + kPanelTitleHeight;

// Chooses the cells of both axes when their size is not given. Cells cannot shrink below a pixel: a
// coarse resolution leaves room for fewer of them.
void pool_axes(const Request& request, FigureGrid& grid) {
  const double coarse = std::min(1.0, static_cast<double>(request.style.dpi) / kUsualDpi);
  const auto room = [coarse](int body, std::size_t n_panels, int around) {
    return static_cast<int>(coarse * room_a_panel(body, n_panels, around));
  };
  PoolAxis& queries = grid.queries.tokens;
  PoolAxis& keys = grid.keys.tokens;
  queries = pooled_axis(request.queries, room(kLargestBody.height, grid.rows, kAbove),
                        request.least_cell);
  keys = pooled_axis(request.keys, room(kLargestBody.width, grid.columns, kPanelMargin),
                     request.least_cell);
  if (is_square(request)) {  // a square stays square
    queries.block = keys.block = std::max(queries.block, keys.block);
  }
}

// In pixels at 96 dpi.
int usual_pitch(const Request& request, const FigureGrid& grid) {
  const std::size_t queries = grid.queries.n_cells();
  const std::size_t keys = grid.keys.n_cells();
  const Size body = usual_body(request.n_panels);
  const int high = room_a_panel(body.height, grid.rows, kAbove) / static_cast<int>(queries);
  const int wide = room_a_panel(body.width, grid.columns, kPanelMargin) / static_cast<int>(keys);
  const int most = largest_pitch(request.n_panels, std::max(queries, keys));
  return std::max(request.least_cell, std::min({high, wide, most}));
}

// Width for each panel, in pixels of the figure; may be less than a panel needs.
int fitting_width(const Request& request, std::size_t columns) {
  const int gap = request.style.pixels(kPanelMargin);
  return (*request.room + gap) / static_cast<int>(columns) - gap;
}

// Size of cells that fill the room, in pixels of the figure.
int filling_pitch(const Request& request, FigureGrid& grid) {
  const FigureStyle& style = request.style;
  const int wide = std::max(fitting_width(request, grid.columns), style.pixels(kLeastPanel));
  const int high = style.pixels(room_a_panel(kLargestBody.height, grid.rows, kAbove));
  const int least = style.pixels(request.least_cell);
  grid.keys.tokens = pooled_axis(request.keys, wide, least);
  grid.queries.tokens = pooled_axis(request.queries, high, least);
  PoolAxis& queries = grid.queries.tokens;
  PoolAxis& keys = grid.keys.tokens;
  if (is_square(request)) {
    queries.block = keys.block = std::max(queries.block, keys.block);
  }
  const int n_queries = static_cast<int>(queries.cells());
  const int n_keys = static_cast<int>(keys.cells());
  return std::clamp(std::min(wide / n_keys, high / n_queries), least, style.pixels(kLargestCell));
}

FigureGrid fill_grid(const Request& request, std::size_t columns) {
  const FigureStyle& style = request.style;
  FigureGrid grid;
  grid.columns = columns;
  grid.rows = divided_up(request.n_panels, columns);
  grid.queries.tokens = {request.queries.size, 1, request.queries.first};
  grid.keys.tokens = {request.keys.size, 1, request.keys.first};
  int pitch = style.cell;
  if (request.room) {
    const int filling = filling_pitch(request, grid);
    pitch = filling * kUsualDpi / style.dpi;
    for (CellAxis* axis : {&grid.queries, &grid.keys}) {
      const auto n_cells = static_cast<int>(axis->n_cells());
      const int thinnest = (style.pixels(kThinnestPanel) + n_cells - 1) / n_cells;
      axis->pitch = std::max(filling, thinnest);
      axis->gap = style.pixels(gap_between_cells(pitch));
    }
    return grid;
  }
  if (pitch == 0) {
    pool_axes(request, grid);
    pitch = usual_pitch(request, grid);
  }
  for (CellAxis* axis : {&grid.queries, &grid.keys}) {
    const auto thinnest = static_cast<int>(divided_up(kThinnestPanel, axis->n_cells()));
    axis->pitch = style.pixels(std::max(pitch, thinnest));
    axis->gap = style.pixels(gap_between_cells(pitch));
  }
  return grid;
}

struct BodySize {
  double width;
  double height;
};

BodySize body_size(const FigureGrid& grid, const FigureStyle& style) {
  const auto side = [](const CellAxis& axis) {
    return static_cast<double>(axis.n_cells()) * axis.pitch;
  };
  return {static_cast<double>(grid.columns) * (side(grid.keys) + style.pixels(kPanelMargin)),
          static_cast<double>(grid.rows) * (side(grid.queries) + style.pixels(kAbove))};
}

// Smaller is better.
double misfit(const FigureGrid& grid, const Request& request) {
  const std::size_t together = request.together;
  const BodySize body = body_size(grid, request.style);
  const double places = static_cast<double>(grid.rows) * static_cast<double>(grid.columns);
  const double empty = places / static_cast<double>(request.n_panels) - 1.0;
  double torn = keeps_together(grid.columns, together) ? 0.0 : 1.5;
  if (together > 1 && grid.columns > together) {
    torn += 0.5;  // one group per row reads better than two
  }
  const bool pools = grid.queries.tokens.pooled() || grid.keys.tokens.pooled();
  const double coarse = pools && request.least_cell > 1 ? 10.0 : 0.0;  // numbers must stay readable
  return std::abs(std::log(body.width / body.height / kWantedAspect)) + 1.5 * empty + torn + coarse;
}

}  // namespace

void check_size(double width, double height, const FigureStyle& style, double notes) {
  if (width * height <= kMostPixels) {
    return;
  }
  const bool has_many_notes = width * (height - notes) <= kMostPixels;
  std::string remedy = has_many_notes   ? "leave out the notes below it"
                       : style.cell > 0 ? "choose smaller cells"
                       : style.width    ? "choose a smaller width"
                                        : "";
  if (style.dpi > kUsualDpi && !has_many_notes) {
    remedy += fmt::format("{}a lower resolution", remedy.empty() ? "choose " : " or ");
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("picture: it would have {:.0f} x {:.0f} pixels, {:.0f} million, but the "
                          "limit is {:.0f} million: {}",
                          width, height, std::ceil(width * height / 1e6), kMostPixels / 1e6,
                          remedy.empty() ? "draw fewer heads" : remedy),
              "picture");
}

FigureGrid choose_grid(std::size_t n_panels, const GridEntries& queries, const GridEntries& keys,
                       std::size_t together, const FigureStyle& style, std::optional<int> room,
                       int least_cell) {
  const Request request = {n_panels, queries, keys, together, style, room, least_cell};
  FigureGrid best = fill_grid(request, 1);
  double least = misfit(best, request);
  for (std::size_t columns = 2; columns <= n_panels; ++columns) {
    if (room && fitting_width(request, columns) < style.pixels(kLeastPanel)) {
      break;
    }
    const FigureGrid grid = fill_grid(request, columns);
    const double current = misfit(grid, request);
    if (current < least) {
      best = grid;
      least = current;
    }
  }
  const BodySize body = body_size(best, style);
  check_size(body.width, body.height, style);
  return best;
}

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
