// The numbers of a matrix stored in its file's format, as floats.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// Copies one row; slow for a transposed quantised matrix. Precondition: to.size() == matrix.cols.
void copy_row(const StoredMatrix& matrix, std::size_t row, std::span<float> to) noexcept;

/// Returns all numbers. Throws as MatrixBuffer does.
MatrixBuffer to_floats(const StoredMatrix& matrix);

}  // namespace attnviz
