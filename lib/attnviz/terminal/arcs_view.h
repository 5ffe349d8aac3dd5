// Attention as lines between two columns of tokens, for a terminal.
#pragma once

#include "attnviz/document/arcs_figure.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Lines of text, none wider than options.columns (at least 20 are assumed): queries, lines of
/// dots, keys; the denser a line, the stronger. Groups have colours; where there are none, or lines
/// would hide each other, each group is a panel of its own. With TerminalStyle::kArcsAscii a list
/// of the strongest edges of each group in the order of the text, 7-bit.
Page arcs_page(const ArcsFigure& figure, const TerminalOptions& options);

}  // namespace attnviz
