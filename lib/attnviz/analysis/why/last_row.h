// Where the last token of a text looks, over all heads.
#pragma once

#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The weight that the last token puts on each token, the mean over all heads of all layers,
/// [n_tokens]. Throws what run() throws.
std::vector<double> mean_last_row(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request);

}  // namespace attnviz
