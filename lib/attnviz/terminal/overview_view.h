// Overviews as text for a terminal.
#pragma once

#include "attnviz/document/overview.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Thumbnails in rows of layers and columns of heads, the chosen one in brackets; below them why it
/// was chosen, and that head as heatmap_page draws one. Thumbnails are pooled to 5 to 16 columns
/// so that the grid is no higher than a screen where it can be; heads that do not fit side by side
/// even then come in groups of about the same size. TerminalStyle::kNumbers has its numbers in the
/// large head only; kAscii is 7-bit. Lines as heatmap_page has them.
///
/// Precondition: not TerminalStyle::kMask, which has nothing to tell heads apart by.
Page overview_page(const Overview& overview, const TerminalOptions& options);

/// How overview_page cuts its parts.
OverviewCells terminal_cells(const Overview& overview, const TerminalOptions& options);

}  // namespace attnviz
