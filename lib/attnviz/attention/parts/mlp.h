// The MLP of a transformer's layer.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// What it computes in, kept from layer to layer.
struct MlpMemory {
  MatrixBuffer hidden;
  std::vector<MatrixBuffer> up;  // a block's, before it meets its gates, by thread
};

/// out = mlp(x), or out += mlp(x) when `add`. x, out [n_tokens, d_model]: the same matrix, or no
/// overlap. The bits do not depend on n_threads. Precondition: mlp.present().
///
/// Takes n_tokens · d_ff floats for the hidden layer, but for no more tokens at once than 64 MB
/// hold, and with a gate a block a thread.
void run_mlp(const Mlp& mlp, ConstMatrix x, bool add, std::size_t n_threads, MlpMemory& memory,
             Matrix out);

/// Bytes that run_mlp takes; an estimate.
double mlp_bytes(const Mlp& mlp, std::size_t n_tokens) noexcept;

}  // namespace attnviz
