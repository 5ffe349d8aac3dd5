// Pictures of which experts the tokens of a text get.
#pragma once

#include <vector>

#include "attnviz/analysis/router_store.h"
#include "attnviz/document/attention_document.h"

namespace attnviz {

/// A pattern a layer, [n_tokens, n_experts]: the factor of each expert that a token gets, 0 of the
/// others. Its keys are the experts, "0", "1", …; that of layers with fewer of them than others
/// have is as wide. At least one layer.
AttentionDocument router_document(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request,
                                  const std::vector<RoutedLayer>& layers);

}  // namespace attnviz
