// What each head of a model does, as a report.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/document/heads_document.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

/// Which scores people see.
struct HeadsTableChoice {
  HeadRanking ranking;
  std::vector<Score> columns;  // empty: the most informative ones
  std::size_t top = 12;        // rows; 0: all
};

/// The heads of each name, on probes; then a row for each head.
Report heads_report(const HeadsDocument& document, const HeadsTableChoice& choice);

}  // namespace attnviz
