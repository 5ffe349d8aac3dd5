// Matrix product.
#pragma once

#include <span>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// out = x · w + bias, for rows of x that are independent of each other.
///
/// x [n, d_in], w [d_in, d_out], out [n, d_out]; bias empty or d_out long. No overlap with out.
/// w: F32, F16 or BF16, or quantised and transposed, which are computed with as floats; only a few
/// thousand of its numbers are ever converted at a time. The bits of a row do not depend on which
/// other rows stand beside it, those of a column neither, and none on whether w is transposed.
void matmul(ConstMatrix x, const StoredMatrix& w, std::span<const float> bias, Matrix out) noexcept;

/// out += x · w. Shapes as above.
void matmul_add(ConstMatrix x, const StoredMatrix& w, Matrix out) noexcept;

/// out += x, element by element.
void add(ConstMatrix x, Matrix out) noexcept;

}  // namespace attnviz::kernels
