// Layers that mix tokens by states in place of attention. Layers that mix tokens by a convolution
// in place of attention.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/tensor.h"
#include "attnviz/model/mixers.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

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
