// Attention without its sink: the first token, on which many heads rest when nothing else fits.
#pragma once

#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// Adds up in double precision, from the first to the last.
double sum_of(std::span<const float> weights) noexcept;

/// The share that `weight` is of `sum`; 0 if the sum is 0.
inline float scaled_by(double sum, float weight) noexcept {
  return sum == 0.0 ? 0.0f : static_cast<float>(static_cast<double>(weight) / sum);
}

/// Divides weights by their sum; all 0 stays so.
void scale_to_one(std::span<float> weights) noexcept;

/// `weights` [n_queries, n_keys] without its first column, [n_queries, n_keys - 1], each row
/// divided by what is left of it, so that rows that summed to 1 do so again. A row that had nothing
/// but the first column becomes 0, one with a NaN all NaN. Precondition: n_keys >= 2.
///
/// Source  attention sinks: Xiao et al. 2024, "Efficient streaming language models with attention
///         sinks".
MatrixBuffer without_first_key(ConstMatrix weights);

}  // namespace attnviz
