// One set of queries and keys, made into weights in different ways: cut into narrow heads or taken
// as one wide head, by softmax or by a feature map.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Queries and keys of one head as they meet: turned by their positions, [n_tokens, d_head]; and
/// values, [n_tokens, d_value].
struct HeadRows {
  MatrixBuffer query;
  MatrixBuffer key;
  MatrixBuffer value;
};

/// Of each head of a layer. Throws what inspect_heads() throws.
std::vector<HeadRows> head_rows(const Model& model, const ModelInput& input, std::size_t layer);

/// softmax(q · k / √d) of each query over the keys that `mask` lets it see, [n, n]; 0 elsewhere.
MatrixBuffer softmax_weights(ConstMatrix query, ConstMatrix key, const Mask& mask);

/// The same of the heads side by side, as one: its scores are the sum of theirs, over the root of
/// the sum of their widths. At least one head.
MatrixBuffer wide_head_weights(const std::vector<HeadRows>& heads, const Mask& mask);

/// φ(x) = elu(x) + 1: x + 1 above 0, else exp(x). Always above 0.
double elu_plus_one(double x) noexcept;

/// φ(q) · φ(k) over its sum for each query over the keys that `mask` lets it see, [n, n].
///
/// Source  Katharopoulos et al. 2020, "Transformers are RNNs", equations 4 and 7.
MatrixBuffer linear_weights(ConstMatrix query, ConstMatrix key, const Mask& mask);

/// weights · value as linear attention computes it: never a weight, only a running sum of φ(k)ᵀ v,
/// [d_head, d_value], and of φ(k). For the causal mask. Source: as above, equations 8 to 12.
MatrixBuffer linear_contexts(ConstMatrix query, ConstMatrix key, ConstMatrix value);

/// The largest difference between weights · value and `contexts`.
double largest_departure(ConstMatrix weights, ConstMatrix value, ConstMatrix contexts) noexcept;

/// The mean over the rows of a pattern of their largest weight.
double mean_largest(ConstMatrix weights) noexcept;

}  // namespace attnviz
