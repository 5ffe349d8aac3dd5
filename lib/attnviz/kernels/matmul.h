// Matrix product.
#pragma once

#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// out = x · w + bias, for rows of x that are independent of each other.
///
/// x [n, d_in], w [d_in, d_out], out [n, d_out]; bias empty or d_out long. No overlap with out.
/// The bits of a row do not depend on which other rows stand beside it.
void matmul(ConstMatrix x, ConstMatrix w, std::span<const float> bias, Matrix out) noexcept;

/// out += x · w. Shapes as above.
void matmul_add(ConstMatrix x, ConstMatrix w, Matrix out) noexcept;

/// out += x, element by element.
void add(ConstMatrix x, Matrix out) noexcept;

}  // namespace attnviz::kernels
