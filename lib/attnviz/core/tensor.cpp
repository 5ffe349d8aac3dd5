#include "attnviz/core/tensor.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "attnviz/core/error.h"
#include "attnviz/core/large_memory.h"

namespace attnviz {

std::size_t checked_product(std::initializer_list<std::size_t> sizes, std::string_view what) {
  // A zero anywhere makes the product zero, however large the other sizes are.
  if (std::find(sizes.begin(), sizes.end(), std::size_t{0}) != sizes.end()) {
    return 0;
  }
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    if (product > std::numeric_limits<std::size_t>::max() / size) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: the size is too large to count", what));
    }
    product *= size;
  }
  return product;
}

MatrixBuffer::MatrixBuffer(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols) {
  const std::size_t bytes = checked_product({rows, cols, sizeof(float)}, "matrix");
  if (bytes == 0) {
    return;
  }
  data_ = {static_cast<float*>(allocate_zeroed(bytes)), Free{bytes}};
  if (!data_) {
    throw Error(ErrorKind::kIo,
                fmt::format("out of memory: a matrix of {} x {} floats was asked for", rows, cols));
  }
}

void MatrixBuffer::Free::operator()(float* data) const noexcept {
  free_zeroed(data, bytes);
}

}  // namespace attnviz
