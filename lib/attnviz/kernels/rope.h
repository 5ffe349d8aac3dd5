// Rotary position embedding.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// Rotates pairs (i, i + d_head/2) of each row by position · base^(-2i/d_head); an odd last
/// dimension stays. x [n, d_head] in place; row r has position first_position + r. Source: Su et
/// al. 2021, eq. 34, with Llama's (GPT-NeoX's) pairing.
void rope(Matrix x, std::size_t first_position, float base) noexcept;

}  // namespace attnviz::kernels
