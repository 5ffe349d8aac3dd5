// How two texts, or two models, differ head by head, as a report.
#pragma once

#include <cstddef>

#include "attnviz/document/diff_document.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

/// A and B, a table of the `top` heads that differ most (0: all), and of two models their
/// predictions, streams, settings and weights. The document must outlive the report.
Report diff_report(const DiffDocument& document, std::size_t top);

}  // namespace attnviz
