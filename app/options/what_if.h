// --ablate and --hide: the parts that a run leaves out, parsed before a model or a text is known.
// Variants of one run that are drawn side by side: masks and temperatures, or the model unchanged
// and ablated.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/choices.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz::app {

/// The values that replace an ablated output; true: its mean.
inline constexpr std::array kReplacements = {Choice{"zero", false}, Choice{"mean", true}};

/// An item of --ablate.
struct AblationRule {
  std::string item;  // as given on the command line
  IndexRange layers, heads;
  bool mlps = false;  // instead of heads
  bool by_mean = false;
};

/// Tokens of a text, by index or by the words of the text.
struct NamedTokens {
  std::string words;
  bool quoted = false;  // text, however it is tokenized; else one token or its index
};
using TokenPart = std::variant<IndexRange, NamedTokens>;

/// One --hide.
struct HideRule {
  std::string rule;  // as given on the command line
  std::vector<TokenPart> queries, keys;
  IndexRange layers, heads;
};

struct WhatIf {
  std::vector<AblationRule> ablate;
  std::vector<HideRule> hide;

  bool empty() const noexcept { return ablate.empty() && hide.empty(); }
};

/// "5.1,L7,L7.mlp=mean": heads (5.1, L5H1, 5.*, *.0, 5.0-2), the attention of layers (L7, L0-3) and
/// their MLPs. =zero or =mean after the last item applies to all items without one. Throws
/// Error{kUsage}.
std::vector<AblationRule> parse_ablations(std::string_view list);

/// "QUERIES>KEYS[@LAYERS[.HEADS]]": tokens are *, 3, -1, 3-5, 3- (to the end), cat, cat#2, "the
/// cat" in double quotes, or a list of these with commas; layers and heads are *, 2 or 1-3. Throws
/// Error{kUsage}.
HideRule parse_hidden(std::string_view rule);

/// The parts to take out of the model: in order, each once. Edges only have a meaning in a text.
/// Throws Error{kUsage} for parts that the model does not have, including the layers and heads
/// whose edges are hidden.
Interventions interventions_of(const WhatIf& what_if, const Model& model);

/// The edges to hide in one text, each once, for rules that interventions_of() accepts. Appends to
/// `notes` how words were understood, and which rules hide nothing that a head of `model` sees in
/// any of `requests`, with `n_tokens` tokens including those that the model writes. Throws
/// Error{kUsage} for tokens that the text does not have.
std::vector<KnockOut> edges_of(const WhatIf& what_if, const TokenizedText& text,
                               std::size_t n_tokens, const Model& model,
                               std::span<const AttentionRequest> requests,
                               std::vector<std::string>& notes);

/// One mask, one temperature, or one of unchanged and ablated.
struct Variant {
  std::optional<Mask> mask;
  std::optional<float> temperature;
  std::optional<bool> is_ablated;  // false: no interventions

  /// "causal", "T 0.5", "as it is" or "ablated": the ablated parts are not known here.
  std::string name() const;
  /// `request` with this variant's mask or temperature, or without interventions.
  AttentionRequest applied_to(AttentionRequest request) const;
};

/// A comma list of two or more different masks (causal, window:3) and temperatures (0.5, T=0.5); or
/// "ablated", which stands for "unchanged,ablated". Throws Error{kUsage}.
std::vector<Variant> parse_variants(std::string_view list);

/// A temperature: a normal floating-point number above 0. Throws Error{kUsage} that begins with
/// `option`.
float parse_temperature(std::string_view option, std::string_view word);

}  // namespace attnviz::app
