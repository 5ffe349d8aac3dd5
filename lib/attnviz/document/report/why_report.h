// Why a model predicts what it does, as a report.
#pragma once

#include <cstddef>

#include "attnviz/document/report/report.h"
#include "attnviz/document/why_document.h"

namespace attnviz {

/// Tables of the `top` words, parts and ablations that matter most (0: all), each part of the
/// document that is there.
Report why_report(const WhyDocument& document, std::size_t top);

}  // namespace attnviz
