// Experts at work: each token goes through those that its router chose. Which experts a token gets,
// and what their outputs are multiplied by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/parts/mlp.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// Of each token its experts with their factors, the largest factor first; of equal ones the
/// smallest number.
struct RoutedTokens {
  std::size_t n_experts = 0;
  std::size_t n_used = 0;
  std::vector<std::uint32_t> experts;  // [n_tokens, n_used]
  std::vector<float> factors;          // [n_tokens, n_used]

  std::size_t n_tokens() const noexcept { return n_used == 0 ? 0 : experts.size() / n_used; }
  std::span<const std::uint32_t> experts_of(std::size_t token) const noexcept {
    return std::span(experts).subspan(token * n_used, n_used);
  }
  std::span<const float> factors_of(std::size_t token) const noexcept {
    return std::span(factors).subspan(token * n_used, n_used);
  }
};

/// What the router makes of z = x · gate + bias, logits [n_tokens, n_experts], row by row and in
/// double precision. Where numbers are not finite so are factors, and any experts stand there.
RoutedTokens route(const Router& router, ConstMatrix logits);

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
