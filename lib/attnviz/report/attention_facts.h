// Differences between the layers of a model, in words.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/model_info.h"

namespace attnviz {

/// A layer's attention as the model uses it.
struct AttentionVariant {
  Mask mask;
  std::size_t d_head = 0;    // of the first head
  double score_scale = 0.0;  // factor of q·k; 0: 1 / √d_head of each head, which differ
  float soft_cap = 0.0f;     // 0: none
  bool query_norm = false, key_norm = false;
  std::optional<Rope> rope;
  bool has_heads = true;                 // if not, the other fields are unset
  std::optional<std::size_t> keys_from;  // the layer whose keys and values this one reuses
  bool values_are_keys = false;          // values use the keys' projection
  bool value_norm = false;               // of each head's values
  bool d_heads_differ = false;
};

/// Precondition: the model has that layer.
AttentionVariant attention_variant(const Model& model, std::size_t layer);

/// "0", "0, 2", "0-5, 7": runs of three or more become a range. In order.
std::string layer_list(std::span<const std::size_t> layers);

/// Masks, score scale, soft caps, norms of queries and keys, RoPE. Where layers differ, lists the
/// layers of each variant ("layers 0, 2: window 4,096; layers 1, 3: causal"). Empty without a
/// model.
std::vector<InfoFact> attention_facts(const ModelInfo& info);

/// The facts whose text is not empty.
std::vector<InfoFact> known_facts(std::vector<InfoFact> facts);

/// 10,000 or 0.125.
std::string decimal(double number);

/// "1,024 tokens".
std::string counted_large(std::size_t count, std::string_view noun);

// Documents of encoder-decoders: the three attentions of a run. Pictures of how long the states of
// layers without attention keep their input. Pictures of the experts chosen for each token.

/// A text that an encoder or a decoder has read, and optionally its tokens folded to words.
struct PartText {
  const TokenizedText& text;
  const FoldedText* folded = nullptr;  // null: tokens stay as they are
};

/// The attention of one part, whose requested heads are in `patterns`: over tokens, [query, key] as
/// in AttentionPart. Folds tokens to words on both sides; the document keeps the weights it needs
/// alive. Precondition: the model has an encoder.
AttentionDocument part_document(const Model& model, AttentionPart part, const PartText& source,
                                const PartText& target, const AttentionRequest& request,
                                const std::shared_ptr<const PatternStore>& patterns);

/// Returns the document of `part`, with all three attached in the order of AttentionPart.
AttentionDocument shown_part(std::vector<AttentionDocument> all, AttentionPart part);

/// One pattern per state, [n_tokens, n_tokens], as DecayStore::fill() computes it. This is not
/// attention: a state does not choose which tokens to look at. `heads` are at least one of
/// state_heads(), by layer, then head.
AttentionDocument decay_document(const Model& model, const TokenizedText& text,
                                 const AttentionRequest& request, const std::vector<HeadId>& heads,
                                 const DecayStore& decays);

/// One pattern per layer, [n_tokens, n_experts]: the factor of each expert chosen for a token, 0
/// for the others. The keys are the experts, "0", "1", …; all patterns are as wide as the layer
/// with the most experts. At least one layer.
AttentionDocument router_document(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request,
                                  const std::vector<RoutedLayer>& layers);

}  // namespace attnviz
