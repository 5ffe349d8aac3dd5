// What a message says where numbers of a layer are not finite.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/model/model.h"

namespace attnviz {

/// "a weight is NaN", "a weight is infinite" or, where all weights are finite, "weights too
/// large?": of a layer, layer 0 with the embeddings; of `layer` n_layers() those after the last
/// one. Looks at all of these weights. Scores are divided by `temperature`, which can be what made
/// them too large.
std::string_view why_not_finite(const Model& model, std::size_t layer, float temperature = 1.0f);

/// Throws Error{kMalformed} that names the layer and the cause when its output `x` is not finite.
void check_finite(const Model& model, std::size_t layer, ConstMatrix x);

}  // namespace attnviz
