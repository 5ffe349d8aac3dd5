// What a head's score is the sum of, as part of a report.
#pragma once

#include <cstddef>

#include "attnviz/document/report/report.h"
#include "attnviz/document/why_document.h"

namespace attnviz {

/// Tables of the `top` parts and pairs of parts (0: all) that add most to the score, and the
/// numbers of all pairs. Precondition: the document has a split.
void add_score_split(Report& report, const WhyDocument& document, std::size_t top);

}  // namespace attnviz
