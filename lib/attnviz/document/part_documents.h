// Documents of encoder-decoders: the three attentions of a run. Pictures of how long the states of
// layers without attention keep what they take in. Pictures of which experts the tokens of a text
// get.
#pragma once

#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/document/attention_document.h"

namespace attnviz {

/// A text that an encoder has read, or a decoder; with its tokens of one word together, where they
/// are.
struct PartText {
  const TokenizedText& text;
  const FoldedText* folded = nullptr;  // null: tokens stay as they are
};

/// The attention of one part, whose wanted heads `patterns` has kept: over tokens, [query, key] as
/// AttentionPart has them. Words are made of tokens on both sides; the document keeps what weights
/// it needs. Precondition: the model has an encoder.
AttentionDocument part_document(const Model& model, AttentionPart part, const PartText& source,
                                const PartText& target, const AttentionRequest& request,
                                const std::shared_ptr<const PatternStore>& patterns);

/// Puts all three, in the order of AttentionPart, behind the one that is shown.
AttentionDocument shown_part(std::vector<AttentionDocument> all, AttentionPart part);

/// A pattern a state, [n_tokens, n_tokens]: what DecayStore::fill() says. No attention: nothing
/// chooses whom to look at. `heads` are at least one of state_heads(), by layer, then head.
AttentionDocument decay_document(const Model& model, const TokenizedText& text,
                                 const AttentionRequest& request, const std::vector<HeadId>& heads,
                                 const DecayStore& decays);

/// A pattern a layer, [n_tokens, n_experts]: the factor of each expert that a token gets, 0 of the
/// others. Its keys are the experts, "0", "1", …; that of layers with fewer of them than others
/// have is as wide. At least one layer.
AttentionDocument router_document(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request,
                                  const std::vector<RoutedLayer>& layers);

}  // namespace attnviz
