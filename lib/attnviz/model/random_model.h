// Random weights: the same bits from the same seed on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Sizes of a random model; 0 means "follows from the others".
struct RandomShape {
  std::size_t n_layers = 1;
  std::size_t n_heads = 4;
  std::size_t n_kv_heads = 0;  // heads share keys and values in groups (GQA); default n_heads
  std::size_t d_model = 0;     // default n_heads * d_head
  std::size_t d_head = 0;      // default d_model / n_heads, or 16
  std::size_t d_value = 0;     // default d_head
};

/// The shape with its zeros replaced by what follows from the others. Throws Error{kUsage} when it
/// makes no sense (naming the parameter).
RandomShape completed(RandomShape shape);

/// A model whose scores q·k/√d_head have about unit variance for random embeddings, so that
/// patterns are neither flat nor one-hot. Throws Error{kUsage} when the shape makes no sense
/// (naming the parameter).
Model random_model(const RandomShape& shape, std::uint64_t seed,
                   Positions positions = Positions::kNone);

/// A unit-variance vector of `out.size()` values that depends on seed and piece only.
void random_embedding(std::uint64_t seed, std::string_view piece, std::span<float> out) noexcept;

}  // namespace attnviz
