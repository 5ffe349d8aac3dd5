// What a model wrote, and what it holds probable, as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/document/next_tokens.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Lines, none wider than options.columns: what was written, and what is predicted as a table with
/// bars, where there is any. kAscii and kMask are 7-bit. `variant` names the run among several
/// ("T 0.5"), or is empty.
Page continuation_page(const Continuation& continuation, const TerminalOptions& options);
Page predictions_page(const Predictions& predictions, const std::string& variant,
                      const Colormap& colormap, const TerminalOptions& options);

/// A line for each place: what is predicted there, and what came. `all`: at least one.
Page all_predictions_page(const std::vector<Predictions>& all, const std::string& variant,
                          const Colormap& colormap, const TerminalOptions& options);

}  // namespace attnviz
