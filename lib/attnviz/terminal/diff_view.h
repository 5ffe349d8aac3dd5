// Two texts or models compared, as a table for a terminal.
#pragma once

#include <cstddef>

#include "attnviz/document/diff_document.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A and B, the heads that differ most, and of models how far weights, streams and predictions are
/// apart, in lines of which none is wider than options.columns. `top`: so many heads; 0: all.
Page diff_page(const DiffDocument& document, std::size_t top, const TerminalOptions& options);

}  // namespace attnviz
