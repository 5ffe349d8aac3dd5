// What a layer's heads make their queries, keys and values of.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Rows are tokens. Without latents both are y, the tokens as attention looks at them.
struct HeadInputs {
  ConstMatrix queries;  // [n, d_in of the heads' queries]
  // [n, d_in of the heads' keys and values]; of latents what heads' keys share stands behind.
  ConstMatrix keys;

  HeadInputs row_block(std::size_t first, std::size_t count) const noexcept {
    return {queries.row_block(first, count), keys.row_block(first, count)};
  }
};

/// What latents are computed in.
struct LatentMemory {
  MatrixBuffer queries, keys;
};

/// Of the tokens y [n, d_model]. Views into y, or into `memory`, valid as long as these. The bits
/// of a row do not depend on other rows, nor on n_threads.
HeadInputs head_inputs(const LayerWeights& layer, ConstMatrix y, std::size_t n_threads,
                       LatentMemory& memory);

/// Values of what a head reads, [n, d_value] in `out`, normed if the layer norms them.
void project_values(const LayerWeights& layer, const Projection& value, ConstMatrix keys,
                    Matrix out) noexcept;

}  // namespace attnviz
