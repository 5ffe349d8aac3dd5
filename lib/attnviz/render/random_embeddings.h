// Which tokens mean nothing to a model that otherwise does: pictures have to say so.
#pragma once

#include <cstddef>

#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// How many of the text's tokens get a random embedding because the model has none for them. 0 for
/// a model of inputs by position.
std::size_t n_random_embeddings(const Model& model, const TokenizedText& text);

}  // namespace attnviz
