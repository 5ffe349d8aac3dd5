// The parts of a layer beside attention: MLPs and experts, states and convolutions, several
// residual streams. Also finds why numbers are not finite.
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

/// Working memory of an MLP, kept from layer to layer.
struct MlpMemory {
  MatrixBuffer hidden;
  std::vector<MatrixBuffer> up;  // a block's up projection before it is gated, by thread
};

/// out = mlp(x), or out += mlp(x) when `add`. x, out [n_tokens, d_model]: the same matrix, or no
/// overlap. The bits do not depend on n_threads. Precondition: mlp.present().
///
/// Takes n_tokens · d_ff floats for the hidden layer, but for no more tokens at once than 64 MB
/// hold; with a gate, also one block per thread.
void run_mlp(const Mlp& mlp, ConstMatrix x, bool add, std::size_t n_threads, MlpMemory& memory,
             Matrix out);

/// Bytes that run_mlp() takes; an estimate.
double mlp_bytes(const Mlp& mlp, std::size_t n_tokens) noexcept;

// Mixture of experts: the router chooses which experts a token goes through, and the factors of
// their outputs.

/// The experts of each token with their factors, the largest factor first; ties by the smaller
/// expert.
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

/// Chooses experts and factors from the router's output x · gate + bias, logits [n_tokens,
/// n_experts], row by row and in double precision. Where logits are not finite, neither are the
/// factors, and the experts are arbitrary.
RoutedTokens route(const Router& router, ConstMatrix logits);

/// Working memory of experts, kept from layer to layer.
struct ExpertMemory {
  MatrixBuffer logits;
  MatrixBuffer outputs;              // of every token and each of its experts
  MatrixBuffer routed, look, sum;    // of norms before and after router and experts
  MatrixBuffer latents;              // tokens in a narrower stream, and their sums
  std::vector<MatrixBuffer> inputs;  // by thread
  std::vector<MlpMemory> mlps;
  std::vector<Experts::Memory> weights;
};

/// Chooses the experts for the tokens of x. x [n_tokens, d_model]: the input of the MLP, or the
/// stream itself where the router has a norm.
RoutedTokens route_tokens(const Experts& experts, ConstMatrix x, std::size_t n_threads,
                          ExpertMemory& memory);

/// out += Σ factor · expert(x) for the tokens of `routed`, through a narrower stream where the
/// experts work on one. Only chosen experts are computed, and their outputs are added in order of
/// expert number: the bits do not depend on n_threads. x, out [n_tokens, d_model], no overlap.
///
/// Takes n_used rows of d_model for each token, but for no more tokens at once than 64 MB hold.
void add_experts(const Experts& experts, const RoutedTokens& routed, ConstMatrix x,
                 std::size_t n_threads, ExpertMemory& memory, Matrix out);

/// out *= σ(x · shared_gate), row by row, if the gate is present. out [n_tokens, d_model].
void gate_shared(const Experts& experts, ConstMatrix x, std::size_t n_threads, ExpertMemory& memory,
                 Matrix out);

/// Bytes that experts take; an estimate.
double expert_bytes(const Experts& experts, std::size_t n_tokens) noexcept;

// Models with several residual streams: AltUp. The learned residual of a layer: LAuReL. Both are in
// model/transformer_parts.h.

/// Returns the input of layer 0 from the output of embed(), `stream` [n_tokens, d_model]: the
/// stream itself, or all streams side by side, [n_tokens, n_streams · d_model].
MatrixBuffer enter_layers(const Model& model, MatrixBuffer stream, std::size_t n_threads);

/// Replaces the streams X in place by the layer's prediction Y. streams [n_tokens, n_streams ·
/// d_model].
void predict_streams(const Model& model, const AltUpLayer& layer, std::size_t n_threads,
                     Matrix streams);

/// Replaces Y in place by the new streams X, corrected by the layer's output z for the active
/// stream, [n_tokens, d_model].
void correct_streams(const Model& model, const AltUpLayer& layer, ConstMatrix z,
                     std::size_t n_threads, Matrix streams);

/// Combines the streams after the last layer into the input of the output head, [n_tokens,
/// d_model]. `out` and `streams` must not overlap.
void leave_layers(const Model& model, ConstMatrix streams, std::size_t n_threads, Matrix out);

/// Returns stream `index`, [n_tokens, d_model], as a view into all of them.
template <class AnyMatrix>
AnyMatrix stream_of(const Model& model, AnyMatrix streams, std::size_t index) noexcept {
  return streams.col_block(index * model.config.d_model, model.config.d_model);
}

/// Returns what LAuReL adds before the sum is divided by √2: y + norm(y · left · right), [n_tokens,
/// d_model]. y, the input of attention, is `stream` or a norm of it. Precondition: the layer has a
/// LAuReL.
MatrixBuffer laurel(const Model& model, std::size_t layer, ConstMatrix stream,
                    std::size_t n_threads);

// Why numbers of a layer are not finite, for messages.

/// Returns "a weight is NaN", "a weight is infinite" or, if all weights are finite, "weights too
/// large?". Reads all weights of the layer; for layer 0 the embeddings, too; `layer` n_layers()
/// stands for the weights after the last layer. Scores are divided by `temperature`: below 1 the
/// question is "temperature too small?".
std::string_view why_not_finite(const Model& model, std::size_t layer, float temperature = 1.0f);

/// Throws Error{kMalformed}, naming the layer and the cause, if its output `x` is not finite.
void check_finite(const Model& model, std::size_t layer, ConstMatrix x);

// Layers that mix tokens by states, or by a convolution, instead of attention.

/// Working memory of layers with states, kept from layer to layer.
struct RecurrenceMemory {
  MatrixBuffer columns;   // output of the projections
  MatrixBuffer channels;  // output of the convolution
  MatrixBuffer steps;     // α, and Δ or β, of each head
  MatrixBuffer values;    // output of the heads
  MatrixBuffer written;   // by thread
  MatrixBuffer decays;    // log α of all tokens, if observed
  MatrixBuffer kept;      // the states when there is no cache: the text is read at once
};

/// Computes what the layer adds for tokens y [n, d_model] into `out` [n, d_model], no overlap.
/// `kept` [n_kept()] holds the states after the tokens before these, and is updated; with
/// `is_first`, these are the first tokens and it is only written. log α [n, n_heads], heads by
/// number_of(), goes to `decays` unless that is empty. The bits do not depend on n_threads.
void recur(const Recurrence& recurrence, ConstMatrix y, bool is_first, std::span<float> kept,
           std::size_t n_threads, RecurrenceMemory& memory, Matrix decays, Matrix out);

/// Bytes that recur() takes, without `kept`; an estimate.
double recurrence_bytes(const Recurrence& recurrence, std::size_t n_tokens) noexcept;

/// out = out(C ∘ conv(B ∘ x)) of tokens y [n, d_model], with C, B and x as in Convolution; tokens
/// before the first count as 0. `channels` [n_before + n, n_channels] holds B ∘ x of the n_before
/// earlier tokens, and receives that of these. `memory` is kept from layer to layer. out [n,
/// d_model], no overlap. The bits do not depend on n_threads.
void convolve(const Convolution& convolution, ConstMatrix y, std::size_t n_before, Matrix channels,
              std::size_t n_threads, MatrixBuffer& memory, Matrix out);

}  // namespace attnviz
