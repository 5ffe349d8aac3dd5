// Experts at work: each token goes through those that its router chose.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/attention/parts/mlp.h"
#include "attnviz/attention/parts/routing.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/experts.h"

namespace attnviz {

/// What it computes in, kept from layer to layer.
struct ExpertMemory {
  MatrixBuffer logits;
  MatrixBuffer outputs;              // of every token and expert that it has
  MatrixBuffer routed, look, sum;    // of norms in front of and behind router and experts
  MatrixBuffer latents;              // tokens of a narrower stream, and the sums in it
  std::vector<MatrixBuffer> inputs;  // by thread
  std::vector<MlpMemory> mlps;
  std::vector<Experts::Memory> weights;
};

/// Which experts the tokens of x get. x [n_tokens, d_model]: what the MLP looks at, or the stream
/// itself where the router has a norm.
RoutedTokens route_tokens(const Experts& experts, ConstMatrix x, std::size_t n_threads,
                          ExpertMemory& memory);

/// out += Σ factor · expert(x) for the tokens of `routed`, through a narrower stream where experts
/// work on one. Only experts that a token has are computed, and added up by number: the bits do not
/// depend on n_threads. x, out [n_tokens, d_model], no overlap.
///
/// Takes n_used rows of d_model for each token, but for no more tokens at once than 64 MB hold.
void add_experts(const Experts& experts, const RoutedTokens& routed, ConstMatrix x,
                 std::size_t n_threads, ExpertMemory& memory, Matrix out);

/// out *= σ(x · shared_gate), row by row, where there is one. out [n_tokens, d_model].
void gate_shared(const Experts& experts, ConstMatrix x, std::size_t n_threads, ExpertMemory& memory,
                 Matrix out);

/// Bytes that they take; an estimate.
double expert_bytes(const Experts& experts, std::size_t n_tokens) noexcept;

}  // namespace attnviz
