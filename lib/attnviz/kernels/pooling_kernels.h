// Rows of weights drawn together into the cells of an image, while they are in the cache.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// cells[k / keys_per_cell] = the largest of what is there and of every row's number for key k.
/// rows [n_rows, n]: column i is key first_key + i; `cells` begins with key 0 and holds a cell for
/// each key of the rows. keys_per_cell > 0. No NaN.
void pool_largest(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
                  std::span<float> cells) noexcept;

/// cells[k / keys_per_cell] += the sum of each row's numbers for the keys k of the cell. Shapes as
/// above; numbers of at least 0, and less than 2^14 in a row's cell altogether.
///
/// What one row adds to one cell is rounded to a multiple of 2^-36 first, and is the same whether
/// zeros stand beside the row or it ends. So sums below 2^17 are exact: they do not depend on the
/// order in which rows are added, nor on who adds which.
void pool_sums(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
               std::span<double> cells) noexcept;

}  // namespace attnviz::kernels
