// Which sentences an answer rests on, as a report.
#pragma once

#include <cstddef>

#include "attnviz/color/colormap.h"
#include "attnviz/document/cite_document.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

/// The answer, a conclusion, a table of the `top` sentences (0: all) that the answer loses most
/// without, and the texts with those that matter shaded.
Report cite_report(const CiteDocument& document, std::size_t top, const Colormap& colormap);

}  // namespace attnviz
