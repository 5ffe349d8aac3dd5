// The model that the options name: a file's, or random weights.
#pragma once

#include <string>

#include "attnviz/model/model.h"
#include "options.h"

namespace attnviz::app {

/// Throws what load_weights_json and random_model throw, and Error{kUsage} when random weights do
/// not fit in memory or --positions contradicts the file.
Model open_model(const ModelOptions& options);

/// "random weights (seed 42)", or the file's name.
std::string model_title(const Model& model);

/// What there is to say of tokens that `model`, whose weights are not random, has no embedding for;
/// empty when it has all.
std::string random_embeddings_note(const Model& model, const TokenizedText& text);

}  // namespace attnviz::app
