// Random numbers in the order of their names, many at once.
#pragma once

#include <span>

#include "attnviz/core/random_bits.h"

namespace attnviz::kernels {

/// out[i] = (2 b + 1 - 2^24) / 2^24 * bound for the upper 24 bits b of random[i]: uniform in
/// (-bound, bound), symmetric around 0, with the same bits on every target.
void fill_uniform(const RandomBits& random, float bound, std::span<float> out) noexcept;

}  // namespace attnviz::kernels
