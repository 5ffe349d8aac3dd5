// Standard normal numbers: the same from the same name on every machine, but for the last bits.
#pragma once

#include <span>

#include "attnviz/core/random_bits.h"

namespace attnviz {

/// Mean 0, variance 1. Source: Box and Muller 1958.
void fill_normal(const RandomBits& random, std::span<float> out) noexcept;

}  // namespace attnviz
