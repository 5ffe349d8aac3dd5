// How alike a word's vectors are in several texts, on a terminal.
#pragma once

#include "attnviz/document/lessons/meaning_document.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// The texts with the word in bold, a table of cosines (a row for each point of the run, a column
/// for each pair of texts), their chart unless it is drawn elsewhere, and what it says.
Page meaning_page(const MeaningDocument& document, const TerminalOptions& options,
                  bool with_chart = true);

}  // namespace attnviz
