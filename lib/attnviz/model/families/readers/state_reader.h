// Reads the states that a family's layers have instead of attention, or beside it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/families/traits.h"

namespace attnviz {

/// Those of a layer whose tensors are `named`. Throws Error{kMalformed} where tensors and traits
/// contradict each other, and for shapes that make no whole heads.
Recurrence read_states(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// What a config's list calls each layer, one of `known`; nothing without such a list. Throws
/// Error{kMalformed} for another number of names than layers, Error{kUnsupported} for other names.
std::optional<std::vector<std::string>> listed_layers(
    const HfConfig& config, std::string_view key, std::size_t n_layers,
    std::initializer_list<std::string_view> known);

/// Of a config's "time_step_limit": [least, most]. Throws Error{kMalformed} for anything else.
void read_step_limit(const HfConfig& config, Recurrence& shape);

}  // namespace attnviz
