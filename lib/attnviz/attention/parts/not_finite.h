// What a message says where numbers of a layer are not finite.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/model/model.h"

namespace attnviz {

/// "a weight is NaN", "a weight is infinite" or, where all weights are finite, "weights too
/// large?": of a layer, layer 0 with the embeddings; of `layer` n_layers() those behind the last
/// one. Looks at all of these weights.
std::string_view why_not_finite(const Model& model, std::size_t layer);

}  // namespace attnviz
