// A whole model in plain double-precision loops, written from the formulas alone.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/model/model.h"

namespace attnviz::test {

struct NaiveResult {
  std::vector<std::vector<std::vector<double>>> patterns;  // [layer][head][query * n_tokens + key]
  std::vector<double> output;                              // [n_tokens, d_model or all d_value]
};

/// Needs `inputs`; knows rope, alibi, masks, temperature and scale, but not dropout.
NaiveResult naive_run(const Model& model, const AttentionRequest& request = {});

}  // namespace attnviz::test
