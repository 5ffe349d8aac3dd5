// The states of linear attention, one token at a time.
#pragma once

#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// out = x S. state [n, m], x [n], out [m], no overlap.
void read_state(ConstMatrix state, std::span<const float> x, std::span<float> out) noexcept;

/// S ← decay · S + kᵀ w, then out = q S. state [n, m], k and q [n], w and out [m], no overlap.
void write_state(float decay, std::span<const float> k, std::span<const float> w,
                 std::span<const float> q, Matrix state, std::span<float> out) noexcept;

}  // namespace attnviz::kernels
