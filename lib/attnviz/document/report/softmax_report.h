// Softmax of one row of scores, step by step, as a report.
#pragma once

#include "attnviz/analysis/lessons/softmax_steps.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

/// A row for each score, from the score to its weight; and, where it fails, the naive formula. The
/// figure is of the weights as bars.
Report softmax_report(const SoftmaxSteps& steps);

}  // namespace attnviz
