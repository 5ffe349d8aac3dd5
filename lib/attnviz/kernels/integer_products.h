// Products with quantised weights by dot products of bytes.
#pragma once

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// Whether the processor has AVX-512 VNNI, and this and the unpacking of lanes were compiled for
/// it.
bool has_integer_products() noexcept;

/// out = x · w + bias, where bias is null for none; out += x · w where `adds`. Shapes as those of
/// matmul().
///
/// Weights stay the small integers that they are stored as. Activations become integers of 24 bits,
/// in units of a power of two for each 16 or 32 that share a scale of w: the largest is rounded at
/// 2^-23 of itself or finer, as a float is, others at the same unit. Products of these are exact;
/// what is rounded, as floats are, is each group's sum and what sums over groups. A group with an
/// activation that is not finite makes NaN. The bits of a row or column do not depend on others.
///
/// Preconditions: has_integer_products(), and the SIMD target in use is the best;
/// is_quantised(w.type).
void integer_matmul(ConstMatrix x, const StoredMatrix& w, const float* bias, bool adds,
                    Matrix out) noexcept;

}  // namespace attnviz::kernels
