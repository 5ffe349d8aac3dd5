// Whether two runs had the same model and the same tokenizer.
#pragma once

#include <cstdint>
#include <string>

#include "attnviz/model/model.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

/// 16 hexadecimal digits made of the model's shape and of the first row of each of its matrices:
/// models that were trained apart have others; the name and the place of the files change nothing.
std::string model_fingerprint(const Model& model);

/// The same of a tokenizer: its kind, and every piece with its id.
std::string tokenizer_fingerprint(const Tokenizer& tokenizer);

}  // namespace attnviz
