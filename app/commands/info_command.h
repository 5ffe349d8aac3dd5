// attnviz info: what is in a model, with its weights or in numbers.
#pragma once

#include "options/options.h"

namespace attnviz::app {

/// Looks at no weight matrix of a whole model. Throws what open_model() throws and, of tokenizers
/// that are there, Error{kMalformed} as load_tokenizer() does.
void run_info(const InfoOptions& options);

}  // namespace attnviz::app
