// The experts of a family's layers.
#pragma once

#include <cstddef>

#include "attnviz/model/families/traits.h"

namespace attnviz {

/// Whether a layer has experts.
bool has_experts(const Traits& traits, std::size_t layer);

/// The experts of a layer whose tensors are `named`. Throws Error{kMalformed} where tensors and
/// traits contradict each other, and for a router that takes more experts or groups than there are.
Experts read_experts(const Traits& traits, const LayerNaming& named, WeightReader& weights);

}  // namespace attnviz
