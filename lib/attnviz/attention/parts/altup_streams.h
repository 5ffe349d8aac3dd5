// The residual streams of a model that has several: AltUp (model/altup.h). The learned residual of
// a layer: LAuReL (model/altup.h).
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What enters layer 0 of the model whose embed() gave `stream` [n_tokens, d_model]: the same, or
/// all its streams side by side, [n_tokens, n_streams · d_model].
MatrixBuffer enter_layers(const Model& model, MatrixBuffer stream, std::size_t n_threads);

/// In place: X becomes what the layer predicts, Y. streams [n_tokens, n_streams · d_model].
void predict_streams(const Model& model, const AltUpLayer& layer, std::size_t n_threads,
                     Matrix streams);

/// In place: Y becomes X, corrected by what the layer made of the active stream, z [n_tokens,
/// d_model].
void correct_streams(const Model& model, const AltUpLayer& layer, ConstMatrix z,
                     std::size_t n_threads, Matrix streams);

/// What the output head looks at, [n_tokens, d_model], of the streams that leave the last layer.
/// `out` and they do not overlap.
void leave_layers(const Model& model, ConstMatrix streams, std::size_t n_threads, Matrix out);

/// Stream `index`, [n_tokens, d_model]: a part of all of them.
template <class AnyMatrix>
AnyMatrix stream_of(const Model& model, AnyMatrix streams, std::size_t index) noexcept {
  return streams.col_block(index * model.config.d_model, model.config.d_model);
}

/// What it adds before the sum is divided by √2: y + norm(y · left · right), y what attention looks
/// at, [n_tokens, d_model]. `stream` of the same shape is what y is a norm of. Precondition: the
/// layer has one.
MatrixBuffer laurel(const Model& model, std::size_t layer, ConstMatrix stream,
                    std::size_t n_threads);

}  // namespace attnviz
