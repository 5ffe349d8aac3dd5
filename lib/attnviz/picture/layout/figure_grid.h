// How many panels stand side by side in a figure, and how large their cells are. The grids that a
// heatmap's figure may have.
#pragma once

#include <cstddef>
#include <optional>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/report/heatmap.h"

namespace attnviz {

/// The cells along one side of a panel. Cell i begins at pixel i * pitch.
struct CellAxis {
  PoolAxis tokens;  // which tokens each cell represents
  int pitch = 1;    // pixels from one cell to the next
  int gap = 0;      // pixels of the pitch that stay empty

  std::size_t n_cells() const noexcept { return tokens.cells(); }
  /// From the start of the axis to the middle of a cell.
  int middle(std::size_t cell) const noexcept {
    return static_cast<int>(cell) * pitch + (pitch - gap) / 2;
  }
  int length() const noexcept { return static_cast<int>(n_cells()) * pitch - gap; }
};

struct FigureGrid {
  std::size_t rows = 0;     // of panels
  std::size_t columns = 0;  // of panels
  CellAxis queries;         // downwards
  CellAxis keys;            // to the right

  bool pooled() const noexcept { return queries.tokens.pooled() || keys.tokens.pooled(); }
};

/// Number and names of an axis's entries.
struct GridEntries {
  GridEntries(std::size_t n, EntryNumbers numbers = 0) noexcept
      : size(n), first(std::move(numbers)) {}

  std::size_t size;
  EntryNumbers first;
};

/// Room around each panel, in pixels at 96 dpi.
constexpr int kPanelMargin = 24;       // between neighbours
constexpr int kPanelTitleHeight = 20;  // above each panel

/// The narrowest panel when panels are fitted into a figure, in pixels at 96 dpi.
constexpr int kLeastPanel = 48;

/// Larger figures are not drawn: they would take more than 450 MB of memory.
constexpr double kMostPixels = 150e6;

/// Throws Error{kUsage} when a figure of this size has more than kMostPixels. `notes` is the part
/// of its height that lines of text below it take.
void check_size(double width, double height, const FigureStyle& style, double notes = 0.0);

/// Chooses the grid for `n_panels` panels of queries by keys cells (all at least 1): landscape,
/// about 3:2 to 2:1 where the shape of the panels allows it, with few empty places; groups of
/// `together` panels have their own rows, unless that makes the grid far too wide or high. Cells
/// are square unless one side has so few that a panel would be thinner than 24 pixels. They are as
/// large as a figure of a usual size allows, and at least one pixel: sides that would then exceed
/// about 3700 pixels or 2000 cells are pooled. These are pixels at 96 dpi; the grid's are the
/// figure's. With style.cell, cells have that size and nothing is pooled. With `room`, the width in
/// pixels of the figure for all panels and the gaps between them, cells fill it; panels are at
/// least kLeastPanel wide, even if `room` is smaller. Cells whose size is not given are at least
/// `least_cell` pixels at 96 dpi. Throws as check_size.
FigureGrid choose_grid(std::size_t n_panels, const GridEntries& queries, const GridEntries& keys,
                       std::size_t together = 1, const FigureStyle& style = {},
                       std::optional<int> room = {}, int least_cell = 1);

// Lengths are pixels at 96 dpi.
constexpr int kSmallestNumber = 5;  // columns of digits where cells show only numbers
constexpr int kAroundNumber = 4;    // space around the number in a cell

/// Columns of the numbers in the cells.
int columns_of_numbers(const Heatmap& heatmap);

/// Smallest size of a cell, in pixels at 96 dpi.
int least_cell(const Heatmap& heatmap, const FigureStyle& style);

/// Chooses the grid with choose_grid(), for `room` pixels of the figure or the usual size. Throws
/// what it throws.
FigureGrid grid_of(const Heatmap& heatmap, const FigureStyle& style, std::optional<int> room);

/// Whether the grid pools cells that must stay whole: numbers of several tokens would be read as
/// those of one, so they are not pooled just for a narrow figure.
bool must_be_whole(const Heatmap& heatmap, const FigureStyle& style, const FigureGrid& grid);

/// Panels below each other with the smallest cell for each token.
FigureGrid whole_grid(const Heatmap& heatmap, const FigureStyle& style);

}  // namespace attnviz
