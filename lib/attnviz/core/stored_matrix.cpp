#include "attnviz/core/stored_matrix.h"

#include <cstdint>

namespace attnviz {

bool StoredMatrix::is_floats() const noexcept {
  return type == StoredType::kF32 && !transposed &&
         reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0;
}

StoredMatrix StoredMatrix::row_block(std::size_t first, std::size_t count) const noexcept {
  StoredMatrix block = *this;
  block.rows = count;
  transposed ? block.advance(0, first) : block.advance(first, 0);
  return block;
}

StoredMatrix StoredMatrix::col_block(std::size_t first, std::size_t count) const noexcept {
  StoredMatrix block = *this;
  block.cols = count;
  transposed ? block.advance(first, 0) : block.advance(0, first);
  return block;
}

void StoredMatrix::advance(std::size_t stored_rows, std::size_t numbers) noexcept {
  const std::size_t at = stored_rows * stride + skip + numbers;
  skip = at % stored_block(type).numbers;
  data = static_cast<const char*>(data) + stored_bytes(type, at - skip);
}

}  // namespace attnviz
