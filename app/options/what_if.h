// --ablate and --hide: what a run is to leave out, before there is a model or a text. Variants of
// one run that are drawn beside each other: masks and temperatures, or the model as it is and what
// is left of it.
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

/// What stands in the place of what is taken out: whether it is its mean.
inline constexpr std::array kReplacements = {Choice{"zero", false}, Choice{"mean", true}};

/// An item of --ablate.
struct AblationRule {
  std::string item;  // as it was given
  IndexRange layers, heads;
  bool mlps = false;  // in place of heads
  bool by_mean = false;
};

/// Tokens of a text by their indices, or by what the text says.
struct NamedTokens {
  std::string words;
  bool quoted =
      false;  // words of the text, whatever they are cut into; else one token or its index
};
using TokenPart = std::variant<IndexRange, NamedTokens>;

/// One --hide.
struct HideRule {
  std::string rule;  // as it was given
  std::vector<TokenPart> queries, keys;
  IndexRange layers, heads;
};

struct WhatIf {
  std::vector<AblationRule> ablate;
  std::vector<HideRule> hide;

  bool empty() const noexcept { return ablate.empty() && hide.empty(); }
};

/// "5.1,L7,L7.mlp=mean": heads (5.1, L5H1, 5.*, *.0, 5.0-2), the attention of layers (L7, L0-3) and
/// their MLPs. =zero or =mean behind the last item is of all that say nothing themselves. Throws
/// Error{kUsage}.
std::vector<AblationRule> parse_ablations(std::string_view list);

/// "QUERIES>KEYS[@LAYERS[.HEADS]]": tokens are *, 3, -1, 3-5, 3- (and all behind), cat, cat#2,
/// "the cat" in double quotes, or a list of these with commas; layers and heads *, 2 or 1-3. Throws
/// Error{kUsage}.
HideRule parse_hidden(std::string_view rule);

/// What is taken out of the model: in order, each once; edges only have a meaning in a text. Throws
/// Error{kUsage} for what the model does not have, also where edges are to be hidden.
Interventions interventions_of(const WhatIf& what_if, const Model& model);

/// The edges that are hidden in one text, each once, of rules that interventions_of() lets pass.
/// What is to be said of how words were understood, and of rules that hide what no head of `model`
/// sees in any of `requests`, with `n_tokens` in all when the model has written behind the text, is
/// appended to `notes`. Throws Error{kUsage} for what the text does not have.
std::vector<KnockOut> edges_of(const WhatIf& what_if, const TokenizedText& text,
                               std::size_t n_tokens, const Model& model,
                               std::span<const AttentionRequest> requests,
                               std::vector<std::string>& notes);

/// One mask, one temperature, or with or without interventions.
struct Variant {
  std::optional<Mask> mask;
  std::optional<float> temperature;
  std::optional<bool> is_ablated;  // false: nothing is left out

  /// "causal", "T 0.5", "as it is"; "ablated", for what is left out is not known here.
  std::string name() const;
  /// `request` with this variant's mask or temperature, or without interventions.
  AttentionRequest applied_to(AttentionRequest request) const;
};

/// A comma list of two or more different masks (causal, window:3) and temperatures (0.5, T=0.5); or
/// "ablated", which stands for "unchanged,ablated". Throws Error{kUsage}.
std::vector<Variant> parse_variants(std::string_view list);

/// A temperature: a normal number above 0. Throws Error{kUsage} that begins with `option`.
float parse_temperature(std::string_view option, std::string_view word);

}  // namespace attnviz::app
