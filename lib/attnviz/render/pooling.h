// Matrices larger than the picture: each cell of a coarser grid shows the largest weight under it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/render/heatmap.h"

namespace attnviz {

/// One axis of `size` entries cut into blocks of `block`; the last one may be shorter.
struct PoolAxis {
  std::size_t size = 0;
  std::size_t block = 1;

  /// The finest cut of `size` entries into at most `most` cells. `most` 0 counts as 1.
  static PoolAxis at_most(std::size_t size, std::size_t most) noexcept;

  std::size_t cells() const noexcept { return size / block + (size % block != 0 ? 1 : 0); }
  std::size_t begin(std::size_t cell) const noexcept { return cell * block; }
  std::size_t end(std::size_t cell) const noexcept;
  bool pooled() const noexcept { return block > 1; }

  /// What a cell stands for: "7", or "8<dash>11" for several entries.
  std::string range(std::size_t cell, const char* dash = "–") const;
};

/// What is left of one panel, [rows, cols].
struct PooledMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values;          // 0 where nothing is visible, NaN where a visible weight is
  std::vector<std::uint8_t> visible;  // whether anything visible lies under the cell

  float value(std::size_t row, std::size_t col) const { return values[row * cols + col]; }
  bool is_visible(std::size_t row, std::size_t col) const { return visible[row * cols + col] != 0; }
};

/// The largest visible weight under each cell. `queries` and `keys` cut the axes of `values`, a
/// matrix of one of the heatmap's panels; blocks of 1 copy it. Memory: the cells only.
PooledMatrix pool(const Heatmap& heatmap, ConstMatrix values, PoolAxis queries, PoolAxis keys);

}  // namespace attnviz
