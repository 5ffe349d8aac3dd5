// The weights that softmax makes of a row of scores, as bars.
#pragma once

#include <string>

#include "attnviz/analysis/lessons/softmax_steps.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/document/patterns/focus_bars.h"

namespace attnviz {

/// "÷ 11.31", "÷ (11.31 · T 2)"; empty where scores are taken as they are.
std::string divisor_words(const SoftmaxSteps& steps);

/// "softmax of 3 scores ÷ 11.31".
std::string softmax_title(const SoftmaxSteps& steps);

struct SoftmaxFigure {
  Heatmap heatmap;  // a row of weights, and one before it of the scores as they are where these are
                    // divided; columns are called by their scores
  BarsSubject subject;
};

SoftmaxFigure softmax_figure(const SoftmaxSteps& steps);

}  // namespace attnviz
