// Scores of heads on a terminal: who earned a name, and a table.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/document/heads_document.h"
#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// What of the scores is shown.
struct HeadsTableChoice {
  HeadRanking ranking;
  std::vector<Score> columns;  // empty: those that say most
  std::size_t top = 12;        // rows; 0: all
};

/// The heads that earned names, on probes; then a row for each head.
Page heads_page(const HeadsDocument& document, const HeadsTableChoice& choice,
                const TerminalOptions& options);

}  // namespace attnviz
