// Documents of encoder-decoders: the three attentions of a run.
#pragma once

#include <vector>

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

}  // namespace attnviz
