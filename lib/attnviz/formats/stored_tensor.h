// A tensor as it lies in a file.
#pragma once

#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>

#include "attnviz/core/stored_type.h"

namespace attnviz {

/// One tensor in a file; a view.
struct StoredTensor {
  std::string_view name;
  StoredType type = StoredType::kF32;
  std::span<const std::size_t> shape;  // outermost first; empty: a single number
  std::string_view bytes;              // row-major; may lie at any address
  std::string_view other_type = {};    // the name of an unknown type; `type` then means nothing

  /// The product of the shape.
  std::size_t n_numbers() const noexcept {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
};

}  // namespace attnviz
