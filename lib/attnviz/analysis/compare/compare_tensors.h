// How far the weights of two models of one shape are apart.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/model/model.h"

namespace attnviz {

/// ‖a − b‖ / ‖a‖ of numbers that correspond, in double precision; nothing where only a is 0.
std::optional<double> relative_error(std::span<const float> a, std::span<const float> b);

/// ‖A − B‖_F / ‖A‖_F of one tensor.
struct TensorDifference {
  std::optional<std::size_t> layer;    // absent: of the whole model
  std::string name;                    // "W_Q": of all heads together
  std::optional<double> relative;      // absent where shapes differ, or A is 0 and B is not
  std::optional<std::size_t> only_in;  // 0: A alone has such a tensor; 1: B
};

/// Of every tensor that one of the models has: embeddings, projections, biases, norms, and the
/// unembedding unless this is the embeddings. Stored numbers are compared as the floats that they
/// stand for, norms' weights as what they multiply by, and those of queries and keys that are
/// ordered for another pairing of rotary positions in one order. In the order of a run.
/// Precondition: as many heads in each layer.
std::vector<TensorDifference> compare_tensors(const Model& a, const Model& b,
                                              std::size_t n_threads);

}  // namespace attnviz
