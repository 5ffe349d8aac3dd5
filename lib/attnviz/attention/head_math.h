// What one head does with one block of tokens: the parts that the layer and whoever follows a
// single query must compute alike, to the bit.
#pragma once

#include <cstddef>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Queries or keys of the tokens x [n, d_model], of which the first stands at `first_position`:
/// projected, with the bias, and rotated when the model says rope. out [n, d_head].
void project_rotated(const Model& model, const Projection& projection, ConstMatrix x,
                     std::size_t first_position, Matrix out) noexcept;

/// What q·k is multiplied with: 1 / √d_head, or 1 without scaling; over the temperature.
float score_factor(const HeadWeights& head, const AttentionRequest& request) noexcept;

/// From q·k to weights: the request's mask or the model's, the scale, ALiBi's penalty over the
/// temperature, dropout.
RowRule row_rule(const Model& model, HeadId head, const AttentionRequest& request) noexcept;

}  // namespace attnviz
