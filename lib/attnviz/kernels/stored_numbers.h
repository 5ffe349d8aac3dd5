// The numbers of a matrix as it lies in its file, as floats.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// One row; of a quantised matrix slow when it is transposed. Precondition: `to` has matrix.cols
/// numbers.
void copy_row(const StoredMatrix& matrix, std::size_t row, std::span<float> to) noexcept;

/// All numbers. Throws as MatrixBuffer does.
MatrixBuffer to_floats(const StoredMatrix& matrix);

}  // namespace attnviz
