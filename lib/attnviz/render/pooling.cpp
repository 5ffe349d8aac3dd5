#include "attnviz/render/pooling.h"

#include <algorithm>
#include <cmath>

namespace attnviz {

PoolAxis PoolAxis::at_most(std::size_t size, std::size_t most) noexcept {
  const std::size_t cells = std::max<std::size_t>(most, 1);
  return {size, std::max<std::size_t>(size / cells + (size % cells != 0 ? 1 : 0), 1)};
}

std::size_t PoolAxis::end(std::size_t cell) const noexcept {
  return std::min(size, begin(cell) + block);
}

std::string PoolAxis::range(std::size_t cell, const char* dash) const {
  const std::string first = std::to_string(begin(cell));
  const std::size_t last = end(cell) - 1;
  return last == begin(cell) ? first : first + dash + std::to_string(last);
}

PooledMatrix pool(const Heatmap& heatmap, ConstMatrix values, PoolAxis queries, PoolAxis keys) {
  PooledMatrix pooled{queries.cells(), keys.cells(), {}, {}};
  const std::size_t n_cells = checked_product({pooled.rows, pooled.cols}, "cells of a picture");
  pooled.values.assign(n_cells, 0.0f);
  pooled.visible.assign(n_cells, 0);
  for (std::size_t query = 0; query < queries.size; ++query) {
    const std::size_t first_cell = query / queries.block * pooled.cols;
    for (std::size_t key = 0; key < keys.size; ++key) {
      const std::size_t cell = first_cell + key / keys.block;
      const float weight = values(query, key);
      float& largest = pooled.values[cell];
      // Asking for visibility is the slow part: only where the weight would change the cell. NaN
      // replaces everything and stays.
      const bool changes =
          pooled.visible[cell] == 0 || (!std::isnan(largest) && !(weight <= largest));
      if (changes && heatmap.is_visible(query, key)) {
        largest = weight;
        pooled.visible[cell] = 1;
      }
    }
  }
  return pooled;
}

}  // namespace attnviz
