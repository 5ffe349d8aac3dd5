// What keeping the keys and values of a text saves when a model writes on: in multiplications, in
// bytes, and in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/analysis/model_shape.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Multiplications of a forward pass; norms, softmax and what turns positions are not counted.
struct PassCosts {
  double token = 0.0;  // with the weights of all layers, for each token that is computed
  double edge = 0.0;   // of attention, for each query and each key that it sees: q · k, and · v
  double head = 0.0;   // with the unembedding, once a step
};

/// Throws what count_parameters() throws.
PassCosts pass_costs(const ModelShape& shape);

/// To write `n_tokens` tokens from one on, the text growing by one a step: kept, each step computes
/// one token; else all of the text so far.
struct GenerationCosts {
  double with_cache = 0.0;
  double without_cache = 0.0;
};
GenerationCosts generation_costs(const PassCosts& costs, std::size_t n_tokens) noexcept;

/// Seconds of the steps up to each length, with and without.
struct GenerationTimes {
  std::vector<double> with_cache;     // [n_tokens]: until the text has 1, 2, … tokens
  std::vector<double> without_cache;  // the same
};

/// Measured: a model reads `ids`, at least one, token by token, and says each time what follows.
/// Throws as Decoding and run() do.
GenerationTimes measure_generation(const Model& model, std::span<const std::uint32_t> ids,
                                   const AttentionRequest& request);

}  // namespace attnviz
