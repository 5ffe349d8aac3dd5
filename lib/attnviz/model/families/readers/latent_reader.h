// Reads attention whose heads read latents.
#pragma once

#include "attnviz/model/families/traits.h"

namespace attnviz {

/// The latents and heads of one layer. Throws as read_transformer() does.
/// Precondition: the traits have latents.
void read_latent_heads(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                       WeightReader& weights, LayerWeights& layer);

}  // namespace attnviz
