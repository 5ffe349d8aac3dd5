// AltUp and LAuReL of a model's files: Gemma 3n.
#pragma once

#include "attnviz/model/families/traits.h"

namespace attnviz {

/// What a model's streams enter and leave by. Throws what `weights` throw; so do the others.
AltUp read_altup(const Traits& traits, WeightReader& weights);

/// What one layer does with them.
AltUpLayer read_altup_layer(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// Its learned residual.
Laurel read_laurel(const Traits& traits, const LayerNaming& named, WeightReader& weights);

}  // namespace attnviz
