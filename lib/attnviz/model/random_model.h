// Random weights: the same bits from the same seed on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "attnviz/model/model.h"
#include "attnviz/model/random_shape.h"

namespace attnviz {

/// Replaces zeros in the shape by sizes that follow from the others. Throws Error{kUsage}, naming
/// the parameter, when the shape is invalid.
RandomShape completed(RandomShape shape);

/// Returns a model whose scores q·k/√d_head have about unit variance for random embeddings, so that
/// patterns are neither flat nor one-hot. Throws Error{kUsage}, naming the parameter, when the
/// shape is invalid.
Model random_model(const RandomShape& shape, std::uint64_t seed,
                   Positions positions = Positions::kNone);

/// Writes a unit-variance vector of `out.size()` values that depends only on seed and piece.
void random_embedding(std::uint64_t seed, std::string_view piece, std::span<float> out) noexcept;

}  // namespace attnviz
