// The learned residual of a layer: LAuReL (model/altup.h).
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What it adds before the sum is divided by √2: y + norm(y · left · right), y what attention looks
/// at, [n_tokens, d_model]. `stream` of the same shape is what y is a norm of. Precondition: the
/// layer has one.
MatrixBuffer laurel(const Model& model, std::size_t layer, ConstMatrix stream,
                    std::size_t n_threads);

}  // namespace attnviz
