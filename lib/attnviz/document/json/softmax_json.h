// One row's softmax, for programs.
#pragma once

#include "attnviz/analysis/lessons/softmax_steps.h"
#include "attnviz/core/byte_sink.h"

namespace attnviz {

/// The format `attnviz.softmax/1`, as its schema describes it. What is no finite number is null.
void write_softmax_json(const SoftmaxSteps& steps, const ByteSink& sink);

/// A row for each score; what is no finite number is written out: inf, -inf, nan.
void write_softmax_csv(const SoftmaxSteps& steps, const ByteSink& sink);

}  // namespace attnviz
