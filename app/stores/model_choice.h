// The model that the options name: the embedded one, a file's, or random weights.
#pragma once

#include "attnviz/model/model.h"
#include "options/options.h"

namespace attnviz::app {

/// Throws what load_weights_json, load_hugging_face, find_model and random_model throw, and
/// Error{kUsage} when random weights do not fit in memory or --positions contradicts the file.
Model open_model(const ModelOptions& options);

}  // namespace attnviz::app
