// Sizes of a model with random weights.
#pragma once

#include <cstddef>

namespace attnviz {

/// Sizes of a random model; 0 means "follows from the others".
///
/// Example:
///     const attnviz::RandomShape shape{.n_layers = 2, .n_heads = 8, .d_model = 64};
///     if (shape.d_head != 0) return 1;  // completed() sets it to 64 / 8
struct RandomShape {
  std::size_t n_layers = 1;
  std::size_t n_heads = 4;
  std::size_t n_kv_heads = 0;  // heads share keys and values in groups (GQA); default n_heads
  std::size_t d_model = 0;     // default n_heads * d_head
  std::size_t d_head = 0;      // default d_model / n_heads, or 16
  std::size_t d_value = 0;     // default d_head
};

}  // namespace attnviz
