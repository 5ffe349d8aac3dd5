// The tokenizer of the embedded demo model.
#pragma once

#include <memory>

#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

std::unique_ptr<ModelTokenizer> demo_tokenizer();

}  // namespace attnviz
