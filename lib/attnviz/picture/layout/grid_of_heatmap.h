// The grids that a heatmap's figure may have.
#pragma once

#include <optional>

#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

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
