// How a heatmap is laid out on a terminal: what stands side by side, how large cells are, what is
// pooled.
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
  bool numbered = false;            // they say their indices themselves
  Charset charset;

  TerminalLabels(const Heatmap& heatmap, const TerminalOptions& options);

  /// The entries of one cell of an axis in at most `columns`: "3 sat" with its index, "sat"
  /// without; "L3" with, too; several as "4–7 on the mat", cut.
  std::string entries(const std::vector<std::string>& labels, const PoolAxis& axis,
                      std::size_t cell, bool with_index, std::size_t columns) const;
};

/// All sizes in columns and lines of text.
struct TerminalLayout {
  std::size_t columns = 0;          // of the terminal
  std::size_t gutter = 0;           // row labels with the space behind them, and bands
  std::size_t band = 0;             // what of it bands of a chat's turns take, and their space
  std::size_t panels_per_band = 1;  // side by side
  std::size_t slot = 0;             // one panel: its cells, or its title when that is wider
  std::size_t cell_width = 1;
  std::size_t cell_height = 1;
  bool filled_cells = false;    // blocks of colour, values and labels in their middle
  bool half_blocks = false;     // two rows of cells in one line of text
  bool indexed_header = false;  // columns carry indices, which row labels repeat
  PoolAxis queries;             // rows of cells
  PoolAxis keys;                // columns of cells
  PoolAxis lines;               // queries of one line (or cell_height lines) of text

  std::size_t cells_width() const noexcept { return keys.cells() * cell_width; }
};

/// As many panels side by side as fit. When it is too wide or taller than a screen: labels shorten,
/// cells shrink, then cells are pooled into an about square picture. options.columns is at
/// least 20.
TerminalLayout plan_layout(const Heatmap& heatmap, const TerminalLabels& labels,
                           const TerminalOptions& options);

}  // namespace attnviz
