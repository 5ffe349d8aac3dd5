// One row's softmax as the table of a textbook page.
#pragma once

#include "attnviz/analysis/lessons/softmax_steps.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A row for each score and one for the sums, in lines of at most options.columns (at least 20 are
/// assumed); beside it the naive form where that fails, and what is to be said of the row.
Page softmax_page(const SoftmaxSteps& steps, const TerminalOptions& options);

}  // namespace attnviz
