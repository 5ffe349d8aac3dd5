// What attention takes as texts grow: a textbook's three loops beside the engine's blocks. What
// keeping the keys and values of a text saves when a model writes on: in multiplications, in bytes,
// and in time. Standard normal numbers: the same from the same name on every machine, but for the
// last bits. Why scores are divided by √d_head: how far q · k spreads, and how sharp softmax then
// gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/analysis/model_shape.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/random_bits.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// softmax(Q K^T / √d) V in plain loops, with all of `weights` [n, n] kept. query and key [n,
/// d_head], value and context [n, d_value]; every key is visible. `report` may be empty.
void attend_naively(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix weights,
                    Matrix context, const ProgressReport& report = {});

/// The same by the engine, whose weights live in cache for a block of queries at a time. Returns
/// the bytes that it took beside its input and the contexts.
std::size_t attend_in_blocks(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix context);

/// One head over `n_tokens`, on one thread; seconds and bytes beside Q, K, V and the contexts.
struct CostPoint {
  std::size_t n_tokens = 0;
  double naive_seconds = 0.0;
  double blocked_seconds = 0.0;
  std::size_t naive_bytes = 0;
  std::size_t blocked_bytes = 0;
};

struct CostRequest {
  std::size_t d_head = 64;
  std::size_t first = 64;  // tokens; each next point has twice as many
  std::size_t last = 4096;
  double seconds = 8.0;  // no point is begun that would take more, but for the first
  std::uint64_t seed = 42;
  ProgressReport report;  // may be empty
};

/// The least of several runs where these are short.
std::vector<CostPoint> measure_cost(const CostRequest& request);

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

/// Mean 0, variance 1. Source: Box and Muller 1958.
void fill_normal(const RandomBits& random, std::span<float> out) noexcept;

/// How sharp a row of weights is.
struct Sharpness {
  double largest = 0.0;  // weight
  double entropy_bits = 0.0;
};

/// Of softmax(factor · scores), at least one.
Sharpness sharpness(std::span<const float> scores, double factor);

/// What is measured of random queries and keys of `d` numbers, each normal with variance 1.
struct ScalingPoint {
  std::size_t d = 0;
  double variance = 0.0;         // of q · k
  double variance_scaled = 0.0;  // of q · k / √d
  Sharpness plain;               // means over the queries, of softmax over their keys
  Sharpness scaled;
};

struct ScalingSamples {
  std::size_t n_queries = 512;
  std::size_t n_keys = 32;  // that each query has for itself
};

/// A point for each of `sizes`, each at least 1, with n_queries · n_keys products.
///
/// Source  Vaswani et al. 2017, section 3.2.1, footnote 4: the products have mean 0 and variance d.
std::vector<ScalingPoint> measure_scaling(std::span<const std::size_t> sizes, std::uint64_t seed,
                                          const ScalingSamples& samples = {});

}  // namespace attnviz
