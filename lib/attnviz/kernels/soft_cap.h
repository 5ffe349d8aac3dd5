// Bounded attention scores.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/key_panels.h"

namespace attnviz::kernels {

/// x = cap · tanh(factor · x / cap) for the scores of each row's range; first_key is the key of
/// column 0. Other columns stay. cap > 0. The softmax that follows takes factor 1. Source: Gemma 2
/// (Gemma Team 2024), section 2, "logit soft-capping".
void soft_cap(Matrix scores, std::span<const KeyRange> ranges, std::size_t first_key, float factor,
              float cap) noexcept;

/// The same for all of `values`, with factor 1: a model's last logits.
void soft_cap(std::span<float> values, float cap) noexcept;

}  // namespace attnviz::kernels
