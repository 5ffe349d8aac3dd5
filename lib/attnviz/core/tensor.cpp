#include "attnviz/core/tensor.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {
constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector of any target
}  // namespace

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
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) {
    throw Error(ErrorKind::kUsage, "matrix: the size is too large to count");
  }
  const std::size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, padded)));
  if (!data_) {
    throw Error(ErrorKind::kIo,
                fmt::format("out of memory: a matrix of {} x {} floats was asked for", rows, cols));
  }
  std::fill_n(data_.get(), rows * cols, 0.0f);
}

void MatrixBuffer::Free::operator()(float* data) const noexcept {
  std::free(data);
}

}  // namespace attnviz
