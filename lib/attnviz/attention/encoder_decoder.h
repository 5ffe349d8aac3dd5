// An encoder-decoder's first half: what its decoder looks at.
#pragma once

#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What the encoder of `model` makes of a text, [n_source, d]: what leaves its last layer, normed
/// where it norms that. The decoder is then run with it: `input.encoded` for run(), or Decoding.
/// Layers and heads that `observer`, unless it is null, is told of are the encoder's.
///
/// Precondition: the model has an encoder. Throws as run() does.
MatrixBuffer encode(const Model& model, const ModelInput& source, const AttentionRequest& request,
                    RunObserver* observer = nullptr);

}  // namespace attnviz
