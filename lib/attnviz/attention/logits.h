// What a model predicts: from the residual stream to logits over the vocabulary.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Logits of each row of the last layer's output, [rows, n_vocab]: of the next token, or, of models
/// that see both ways, of the token itself.
///
/// Throws Error{kUnsupported} when the model has no unembedding, and Error{kMalformed} when a logit
/// is not finite.
MatrixBuffer run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads);

/// The same into `logits`, [rows, n_vocab].
void run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads, Matrix logits);

}  // namespace attnviz
