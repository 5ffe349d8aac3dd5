// Pictures of how long the states of layers without attention keep what they take in.
#pragma once

#include <vector>

#include "attnviz/analysis/decay_store.h"
#include "attnviz/document/attention_document.h"

namespace attnviz {

/// A pattern a state, [n_tokens, n_tokens]: what DecayStore::fill() says. No attention: nothing
/// chooses whom to look at. `heads` are at least one of state_heads(), by layer, then head.
AttentionDocument decay_document(const Model& model, const TokenizedText& text,
                                 const AttentionRequest& request, const std::vector<HeadId>& heads,
                                 const DecayStore& decays);

}  // namespace attnviz
