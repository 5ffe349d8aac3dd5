// What the layers of a model do differently, in words.
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
  double score_scale = 0.0;  // what q·k is multiplied with; 0: 1 / √d_head of each, which differ
  float soft_cap = 0.0f;     // 0: none
  bool query_norm = false, key_norm = false;
  std::optional<Rope> rope;
  bool has_heads = true;                 // else nothing else is said
  std::optional<std::size_t> keys_from;  // the layer whose keys and values it takes
  bool values_are_keys = false;          // values are projected as keys are
  bool value_norm = false;               // of each head's values
  bool d_heads_differ = false;
};

/// Precondition: the model has that layer.
AttentionVariant attention_variant(const Model& model, std::size_t layer);

/// "0", "0, 2", "0-5, 7": runs of three and more are drawn together. In order.
std::string layer_list(std::span<const std::size_t> layers);

/// Masks, score scale, soft caps, norms of queries and keys, RoPE: where layers differ, which does
/// what ("layers 0, 2: window 4,096; layers 1, 3: causal"). None without a model.
std::vector<InfoFact> attention_facts(const ModelInfo& info);

/// Those that have something to tell.
std::vector<InfoFact> told(std::vector<InfoFact> facts);

/// 10,000 or 0.125.
std::string decimal(double number);

/// "1,024 tokens".
std::string counted_large(std::size_t count, std::string_view noun);

// Documents of encoder-decoders: the three attentions of a run. Pictures of how long the states of
// layers without attention keep what they take in. Pictures of which experts the tokens of a text
// get.

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
