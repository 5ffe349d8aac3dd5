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
  PoolAxis tokens;  // which of them each cell stands for
  int pitch = 1;    // pixels from one cell to the next
  int gap = 0;      // pixels of it that stay empty

  std::size_t n_cells() const noexcept { return tokens.cells(); }
  /// From where the axis begins to the middle of a cell.
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

/// How many entries an axis has, and what they are called.
struct GridEntries {
  GridEntries(std::size_t n, EntryNumbers numbers = 0) noexcept
      : size(n), first(std::move(numbers)) {}

  std::size_t size;
  EntryNumbers first;
};

/// Room around each panel, in pixels at 96 dpi.
constexpr int kPanelMargin = 24;       // between neighbours
constexpr int kPanelTitleHeight = 20;  // above each panel

/// A panel is not made narrower to fit into a figure, in pixels at 96 dpi.
constexpr int kLeastPanel = 48;

/// More than these are not drawn: 450 MB of memory.
constexpr double kMostPixels = 150e6;

/// Throws Error{kUsage} when a figure of such a size has more than kMostPixels. `notes`: what lines
/// of text below it take of its height.
void check_size(double width, double height, const FigureStyle& style, double notes = 0.0);

/// The grid for `n_panels` panels of queries by keys cells (all at least 1): landscape, about
/// 3:2 to 2:1 where the shape of the panels allows it, with few empty places, and unless that
/// makes it far too wide or high, keeping groups of `together` panels in rows of their own. Cells
/// are square unless one side has so few that a panel would be thinner than 24 pixels; they are as
/// large as a figure of a usual size allows, and at least one pixel: what would then take more than
/// about 3700 pixels or 2000 cells a side is pooled. These are pixels at 96 dpi; the grid's are the
/// figure's. With style.cell, cells have that size and nothing is pooled. With `room`, the pixels
/// of the figure that all panels and the gaps between them may take from left to right, cells fill
/// it; panels are at least kLeastPanel wide, even where there is less. Cells whose size is not
/// given are at least `least_cell` pixels at 96 dpi. Throws as check_size.
FigureGrid choose_grid(std::size_t n_panels, const GridEntries& queries, const GridEntries& keys,
                       std::size_t together = 1, const FigureStyle& style = {},
                       std::optional<int> room = {}, int least_cell = 1);

// Lengths are pixels at 96 dpi.
constexpr int kSmallestNumber = 5;  // columns of digits where there is nothing but numbers
constexpr int kAroundNumber = 4;    // what a cell has besides

/// Columns of the numbers in the cells.
int columns_of_numbers(const Heatmap& heatmap);

/// What a cell takes at least, in pixels at 96 dpi.
int least_cell(const Heatmap& heatmap, const FigureStyle& style);

/// As choose_grid() does, in `room` pixels of the figure or as usual. Throws what it throws.
FigureGrid grid_of(const Heatmap& heatmap, const FigureStyle& style, std::optional<int> room);

/// Whether a figure may not have this grid: numbers of several tokens would be read as one's, and
/// are not pooled for a narrow figure alone.
bool must_be_whole(const Heatmap& heatmap, const FigureStyle& style, const FigureGrid& grid);

/// Panels below each other with the least cell for each token.
FigureGrid whole_grid(const Heatmap& heatmap, const FigureStyle& style);

}  // namespace attnviz
