// Why numbers of a layer are not finite, for messages.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/model/model.h"

namespace attnviz {

/// "a weight is NaN", "a weight is infinite" or, if all weights are finite, "weights too large?".
/// Reads all weights of the layer, for layer 0 those of the embeddings, too; `layer` n_layers()
/// stands for the weights after the last layer. Scores are divided by `temperature`: below 1 the
/// question is "temperature too small?".
std::string_view why_not_finite(const Model& model, std::size_t layer, float temperature = 1.0f);

/// Throws Error{kMalformed} naming the layer and the cause if its output `x` is not finite.
void check_finite(const Model& model, std::size_t layer, ConstMatrix x);

}  // namespace attnviz
