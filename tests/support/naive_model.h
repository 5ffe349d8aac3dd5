// A whole model in plain double-precision loops, written from the formulas alone.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"

namespace attnviz::test {

/// The values between the steps of one layer, each [n_tokens, …] as described at LayerStep.
struct NaiveLayer {
  std::vector<double> before, contexts, attention, middle, mlp, after;
};

struct NaiveResult {
  std::vector<std::vector<std::vector<double>>> patterns;  // [layer][head][query * n_tokens + key]
  std::vector<NaiveLayer> layers;
  std::vector<double> output;  // [n_tokens, d_model or all d_value]
};

/// Changes made during the run; empty ones change nothing.
struct NaiveEdits {
  std::function<bool(HeadId head, std::size_t query, std::size_t key)> hides;
  std::function<double(HeadId head)> context_factor;
  std::function<double(std::size_t layer)> mlp_factor;
};

/// Needs `inputs`; implements rope, alibi, masks, temperature and scale, every layer order with its
/// norms and an MLP with ReLU and without a gate, but not dropout.
NaiveResult naive_run(const Model& model, const AttentionRequest& request = {},
                      const NaiveEdits& edits = {});

}  // namespace attnviz::test
