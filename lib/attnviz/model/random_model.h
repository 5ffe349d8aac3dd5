// Random weights: the same bits from the same seed on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "attnviz/model/model.h"
#include "attnviz/model/random_shape.h"

namespace attnviz {

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
