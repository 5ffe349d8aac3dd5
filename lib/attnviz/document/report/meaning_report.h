// How alike a word's vectors are in several texts, as a report.
#pragma once

#include "attnviz/document/lessons/meaning_document.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

/// The texts, a row of cosines for each layer, and a chart of them. The document must outlive the
/// report.
Report meaning_report(const MeaningDocument& document);

}  // namespace attnviz
