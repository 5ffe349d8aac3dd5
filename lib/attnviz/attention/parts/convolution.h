// Layers that mix tokens by a convolution in place of attention.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// out = out(C ∘ conv(B ∘ x)) of tokens y [n, d_model], C, B and x as Convolution says; tokens
/// before the first count for 0. `channels` [n_before + n, n_channels] has B ∘ x of the n_before
/// tokens in front of these, and gets theirs. `memory` is kept from layer to layer. out [n,
/// d_model], no overlap. The bits do not depend on n_threads.
void convolve(const Convolution& convolution, ConstMatrix y, std::size_t n_before, Matrix channels,
              std::size_t n_threads, MatrixBuffer& memory, Matrix out);

}  // namespace attnviz
