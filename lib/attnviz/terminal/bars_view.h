// One token's attention as bars with percentages, for a terminal.
#pragma once

#include "attnviz/document/heatmap.h"
#include "attnviz/document/patterns/focus_bars.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Lines, none wider than options.columns (at least 20 are assumed): a list of bars
/// for each row of `focus`, as many side by side as fit, tokens in the order of the text. Of more
/// tokens than a screen holds those with the largest weights, and what the others have. All bars
/// have one scale, which the legend tells. Styles kAscii and kMask are 7-bit.
Page bars_page(const Heatmap& focus, const BarsSubject& subject, const TerminalOptions& options);

}  // namespace attnviz
