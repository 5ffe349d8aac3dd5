// What a layer computes beside attention: MLPs and experts, states and convolutions, several
// residual streams; and why its numbers are not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/mixers.h"
#include "attnviz/model/model.h"
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

// Experts at work: each token goes through those that its router chose. Which experts a token gets,
// and what their outputs are multiplied by.

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

// The residual streams of a model that has several: AltUp (model/altup.h). The learned residual of
// a layer: LAuReL (model/altup.h).

/// What enters layer 0 of the model whose embed() gave `stream` [n_tokens, d_model]: the same, or
/// all its streams side by side, [n_tokens, n_streams · d_model].
MatrixBuffer enter_layers(const Model& model, MatrixBuffer stream, std::size_t n_threads);

/// In place: X becomes what the layer predicts, Y. streams [n_tokens, n_streams · d_model].
void predict_streams(const Model& model, const AltUpLayer& layer, std::size_t n_threads,
                     Matrix streams);

/// In place: Y becomes X, corrected by what the layer made of the active stream, z [n_tokens,
/// d_model].
void correct_streams(const Model& model, const AltUpLayer& layer, ConstMatrix z,
                     std::size_t n_threads, Matrix streams);

/// What the output head looks at, [n_tokens, d_model], of the streams that leave the last layer.
/// `out` and they do not overlap.
void leave_layers(const Model& model, ConstMatrix streams, std::size_t n_threads, Matrix out);

/// Stream `index`, [n_tokens, d_model]: a part of all of them.
template <class AnyMatrix>
AnyMatrix stream_of(const Model& model, AnyMatrix streams, std::size_t index) noexcept {
  return streams.col_block(index * model.config.d_model, model.config.d_model);
}

/// What it adds before the sum is divided by √2: y + norm(y · left · right), y what attention looks
/// at, [n_tokens, d_model]. `stream` of the same shape is what y is a norm of. Precondition: the
/// layer has one.
MatrixBuffer laurel(const Model& model, std::size_t layer, ConstMatrix stream,
                    std::size_t n_threads);

// Why numbers of a layer are not finite, for messages.

/// "a weight is NaN", "a weight is infinite" or, if all weights are finite, "weights too large?".
/// Reads all weights of the layer, for layer 0 those of the embeddings, too; `layer` n_layers()
/// stands for the weights after the last layer. Scores are divided by `temperature`: below 1 the
/// question is "temperature too small?".
std::string_view why_not_finite(const Model& model, std::size_t layer, float temperature = 1.0f);

/// Throws Error{kMalformed} naming the layer and the cause if its output `x` is not finite.
void check_finite(const Model& model, std::size_t layer, ConstMatrix x);

// Layers that mix tokens by states in place of attention. Layers that mix tokens by a convolution
// in place of attention.

/// What they compute in, kept from layer to layer.
struct RecurrenceMemory {
  MatrixBuffer columns;   // what projections give
  MatrixBuffer channels;  // behind the convolution
  MatrixBuffer steps;     // α, and Δ or β, of each head
  MatrixBuffer values;    // what heads give
  MatrixBuffer written;   // by thread
  MatrixBuffer decays;    // log α of all tokens, where somebody looks at them
  MatrixBuffer kept;      // what is kept where no cache does: of a text that is read at once
};

/// What the layer adds for tokens y [n, d_model], to `out` [n, d_model], no overlap. `kept`
/// [n_kept()] is what it keeps of the tokens in front of these, and becomes that for those behind
/// them; where `is_first`, there are none, and it is only written. log α [n, n_heads] goes to
/// `decays` unless that is empty, heads by number_of(). The bits do not depend on n_threads.
void recur(const Recurrence& recurrence, ConstMatrix y, bool is_first, std::span<float> kept,
           std::size_t n_threads, RecurrenceMemory& memory, Matrix decays, Matrix out);

/// Bytes that it takes, without what is kept; an estimate.
double recurrence_bytes(const Recurrence& recurrence, std::size_t n_tokens) noexcept;

/// out = out(C ∘ conv(B ∘ x)) of tokens y [n, d_model], C, B and x as Convolution says; tokens
/// before the first count for 0. `channels` [n_before + n, n_channels] has B ∘ x of the n_before
/// tokens in front of these, and gets theirs. `memory` is kept from layer to layer. out [n,
/// d_model], no overlap. The bits do not depend on n_threads.
void convolve(const Convolution& convolution, ConstMatrix y, std::size_t n_before, Matrix channels,
              std::size_t n_threads, MatrixBuffer& memory, Matrix out);

}  // namespace attnviz
