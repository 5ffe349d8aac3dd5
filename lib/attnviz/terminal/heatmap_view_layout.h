// The layout of a heatmap on a terminal: panels side by side, cell sizes, pooling.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/report/heatmap.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

inline constexpr std::size_t kPanelGap = 2;  // columns between panels

/// Labels and titles made safe for one charset; labels no wider than the terminal.
struct TerminalLabels {
  std::vector<std::string> queries;
  std::vector<std::string> keys;
  std::vector<std::string> titles;  // of panels
  bool same = true;                 // queries and keys have the same labels
  bool numbered = false;            // labels contain their indices
  Charset charset;

  TerminalLabels(const Heatmap& heatmap, const TerminalOptions& options);

  /// The label of one cell of an axis in at most `columns`: "3 sat" with its index, "sat" without;
  /// numbered labels are always "L3"; several entries as "4–7 on the mat", cut.
  std::string entries(const std::vector<std::string>& labels, const PoolAxis& axis,
                      std::size_t cell, bool with_index, std::size_t columns) const;
};

/// All sizes in columns and lines of text.
struct TerminalLayout {
  std::size_t columns = 0;          // of the terminal
  std::size_t gutter = 0;           // row labels, bands, and the space after them
  std::size_t band = 0;             // part of it for bands of a chat's turns, with space
  std::size_t panels_per_band = 1;  // side by side
  std::size_t slot = 0;             // one panel: its cells, or its title if that is wider
  std::size_t cell_width = 1;
  std::size_t cell_height = 1;
  bool filled_cells = false;    // colour blocks with values and labels in the middle
  bool half_blocks = false;     // two rows of cells per line of text
  bool indexed_header = false;  // columns have indices, which row labels repeat
  PoolAxis queries;             // rows of cells
  PoolAxis keys;                // columns of cells
  PoolAxis lines;               // queries per line (or cell_height lines) of text

  std::size_t cells_width() const noexcept { return keys.cells() * cell_width; }
};

/// Puts as many panels side by side as fit. If the picture is too wide, or taller than a screen,
/// first shortens labels, then shrinks cells, then pools cells into a roughly square picture.
/// options.columns is at least 20.
TerminalLayout plan_layout(const Heatmap& heatmap, const TerminalLabels& labels,
                           const TerminalOptions& options);

}  // namespace attnviz
