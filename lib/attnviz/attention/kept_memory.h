// Memory that is kept from one layer to the next.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// `kept` if it has this shape, else made anew; with anything in it. Throws as MatrixBuffer does.
inline Matrix shaped(MatrixBuffer& kept, std::size_t rows, std::size_t cols) {
  if (kept.rows() != rows || kept.cols() != cols) {
    kept = {};  // before more is taken
    kept = MatrixBuffer(rows, cols);
  }
  return kept.view();
}

}  // namespace attnviz
