#include "attnviz/report/attention_facts.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

// Describes each layer, and names the layers where they differ.
std::string by_layers(const Model& model,
                      const std::function<std::string(const AttentionVariant&)>& describe) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const AttentionVariant variant = attention_variant(model, layer);
    std::string text = variant.has_heads ? describe(variant) : "";
    const auto known =
        std::ranges::find_if(groups, [&text](const auto& group) { return group.first == text; });
    if (known == groups.end()) {
      groups.emplace_back(std::move(text), std::vector<std::size_t>{layer});
    } else {
      known->second.push_back(layer);
    }
  }
  if (groups.size() == 1) {
    return groups.front().first;
  }
  std::string all;
  for (const auto& [text, layers] : groups) {
    all +=
        fmt::format("{}{} {}: {}", all.empty() ? "" : "; ", layers.size() == 1 ? "layer" : "layers",
                    layer_list(layers), text.empty() ? "none" : text);
  }
  return all;
}

std::string mask_words(const AttentionVariant& variant) {
  const Mask& mask = variant.mask;
  if (mask.kind == MaskKind::kNone) {
    return "none: every token sees all tokens";
  }
  if (mask.kind == MaskKind::kAround) {
    return fmt::format("around {}: tokens to either side", grouped(mask.size));
  }
  const std::string name = mask.name();
  return mask.size == 0 ? name
                        : fmt::format("{} {}", name.substr(0, name.find(':')), grouped(mask.size));
}

std::string scale_words(const AttentionVariant& variant) {
  const double scale = variant.score_scale;
  if (scale == 0.0) {
    return "1/√d_head, each head's own";
  }
  const double usual = 1.0 / std::sqrt(static_cast<double>(variant.d_head));
  constexpr double kRounding = 1e-6;
  return std::abs(scale - usual) <= kRounding * usual
             ? fmt::format("1/√{} = {}", variant.d_head, decimal(scale))
             : fmt::format("{}, not 1/√{} = {}", decimal(scale), variant.d_head, decimal(usual));
}

std::string cap_words(const AttentionVariant& variant) {
  const std::string cap = decimal(variant.soft_cap);
  return variant.soft_cap > 0.0f ? fmt::format("{} tanh(score / {})", cap, cap) : "";
}

std::string rope_words(const AttentionVariant& variant) {
  if (!variant.rope) {
    return "";
  }
  const Rope& rope = *variant.rope;
  if (rope.n_rotated() == 0) {
    return "none: the model does not know the tokens' positions";
  }
  std::string text = fmt::format("base {}", decimal(rope.theta));
  if (variant.d_heads_differ) {
    text += ", all dimensions of a head";
  } else if (rope.n_rotated() == variant.d_head) {
    text += fmt::format(", all {} dimensions of a head", variant.d_head);
  } else {
    text += fmt::format(", {}{} of {} dimensions of a head (partial)",
                        rope.n_still > 0 ? "the last " : "", rope.n_rotated(), variant.d_head);
  }
  if (rope.scaling != "none") {
    text += fmt::format(", {} scaling by {}", rope.scaling, decimal(rope.factor));
    if (rope.original_n_ctx != 0) {
      text += fmt::format(" from {}", counted_large(rope.original_n_ctx, "token"));
    }
  }
  if (rope.query_growth != 0.0) {
    text += fmt::format("; queries grow by {} ln(1 + position / {})", decimal(rope.query_growth),
                        grouped(rope.original_n_ctx));
  }
  return text;
}

}  // namespace

std::vector<InfoFact> known_facts(std::vector<InfoFact> facts) {
  std::erase_if(facts, [](const InfoFact& fact) { return fact.text.empty(); });
  return facts;
}

std::string decimal(double number) {
  constexpr double kLargest = 1e15;
  if (number == std::floor(number) && number >= 0.0 && number < kLargest) {
    return grouped(static_cast<std::size_t>(number));
  }
  return fmt::format("{:.4g}", number);
}

std::string counted_large(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

AttentionVariant attention_variant(const Model& model, std::size_t layer) {
  const LayerWeights& weights = model.layers[layer];
  if (weights.heads.empty()) {
    AttentionVariant none;
    none.has_heads = false;
    return none;
  }
  const std::size_t d_head = weights.heads.front().d_head();
  AttentionVariant variant{weights.mask.value_or(model.config.mask),
                           d_head,
                           weights.score_scale,
                           weights.soft_cap,
                           weights.query_norm.present(),
                           weights.key_norm.present(),
                           {},
                           true,
                           weights.keys_from,
                           weights.heads.front().value == weights.heads.front().key,
                           weights.value_norm.present()};
  const bool is_alike = std::ranges::all_of(
      weights.heads, [d_head](const HeadWeights& head) { return head.d_head() == d_head; });
  variant.d_heads_differ = !is_alike;
  if (weights.score_scale == 0.0 && is_alike) {
    variant.score_scale = 1.0 / std::sqrt(static_cast<double>(d_head));
  }
  if (weights.rope) {
    variant.rope = *weights.rope;
  } else {
    variant.rope.emplace().inverse_frequencies.resize(d_head / 2);
  }
  if (model.config.positions != Positions::kRope) {
    variant.rope.reset();
  }
  return variant;
}

std::string layer_list(std::span<const std::size_t> layers) {
  constexpr std::size_t kRun = 3;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) {
      ++end;
    }
    const bool is_run = end - i >= kRun;
    runs.push_back(is_run ? fmt::format("{}-{}", layers[i], layers[end - 1])
                          : fmt::format("{}", layers[i]));
    i = is_run ? end : i + 1;
  }
  return joined_by(runs, ", ");
}

namespace {

std::string mixer_words(const LayerWeights& layer) {
  const Recurrence& states = layer.recurrence;
  switch (states.present() ? states.kind : layer.mixer()) {
    case MixerKind::kConvolution:
      return fmt::format("convolutions of {}", counted(layer.convolution.width, "token"));
    case MixerKind::kGatedDelta:
    case MixerKind::kMamba2:
      return fmt::format("{}, {} of {} {} {}", mixer_name(states.kind),
                         counted(states.n_heads, "state"), states.d_key, "×", states.d_value);
    case MixerKind::kAttention:
    case MixerKind::kNone:
      break;
  }
  return "MLPs alone";
}

// The mixers that replace attention, or the states beside it, with their layers.
std::string other_mixers(const Model& model, bool are_beside) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const LayerWeights& weights = model.layers[layer];
    if (are_beside ? !weights.has_both() : !weights.heads.empty()) {
      continue;
    }
    std::string words = mixer_words(model.layers[layer]);
    const auto known =
        std::ranges::find_if(groups, [&](const auto& group) { return group.first == words; });
    (known == groups.end() ? groups.emplace_back(std::move(words), std::vector<std::size_t>())
                           : *known)
        .second.push_back(layer);
  }
  std::string all;
  for (const auto& [words, layers] : groups) {
    all += fmt::format("{}{} {}: {}", all.empty() ? "" : "; ",
                       layers.size() == 1 ? "layer" : "layers", layer_list(layers), words);
  }
  return all;
}

}  // namespace

std::vector<InfoFact> attention_facts(const ModelInfo& info) {
  if (info.model == nullptr) {
    return {};
  }
  const Model& model = *info.model;
  const std::string scale = by_layers(model, scale_words);
  const LayerWeights& first = model.first_attention();
  const auto norms = [&first](const AttentionVariant& variant) {
    return !variant.query_norm
               ? std::string()
               : fmt::format("{}, {} RoPE",
                             first.norms_heads_together
                                 ? "the queries of all heads together, and their keys"
                                 : "each head's queries and keys",
                             first.norms_turned_heads ? "after" : "before");
  };
  const auto keys = [](const AttentionVariant& variant) {
    return variant.keys_from ? fmt::format("of layer {}", *variant.keys_from) : "their own";
  };
  const auto values = [](const AttentionVariant& variant) {
    return fmt::format("{}{}", variant.values_are_keys ? "K = V, by the same matrix" : "",
                       !variant.value_norm       ? ""
                       : variant.values_are_keys ? "; each head's are normalised"
                                                 : "each head's are normalised");
  };
  return known_facts(
      {{"no attention", other_mixers(model, /*are_beside=*/false)},
       {"beside heads", other_mixers(model, /*are_beside=*/true)},
       {"keys", model.shares_keys() ? by_layers(model, keys) : ""},
       {"values", by_layers(model, values)},
       {"mask", by_layers(model, mask_words)},
       {"score scale", scale},
       {"soft cap", by_layers(model, cap_words)},
       {"q/k norms", by_layers(model, norms)},
       {"sinks",
        has_sinks(model) ? "a learned logit in each head, whose weight goes to no token" : ""},
       {"output gate", has_output_gates(model) ? "on each head's context, before W_O" : ""},
       {"RoPE", by_layers(model, rope_words)}});
}

namespace {

void name_keys(const TokenizedText& text, AttentionDocument& document) {
  document.key_tokens.clear();
  for (const Token& token : text.tokens) {
    document.key_tokens.push_back(valid_utf8(token.text));
  }
  document.key_marks = token_marks(text);
}

// The sizes of a stack, labelled with the name of its model.
ModelFacts facts_of_stack(const Model& model, const Model& stack, const TokenizedText& text) {
  ModelFacts facts = model_facts(stack, text);
  const ModelFacts whole = model_facts(model, text);
  facts.name = whole.name;
  facts.origin = whole.origin;
  facts.family = whole.family;
  facts.unknown_keys = whole.unknown_keys;
  facts.tokenizer = whole.tokenizer;
  return facts;
}

void fold_patterns(const FoldedText& queries, const FoldedText& keys, float largest_sum,
                   AttentionDocument& document) {
  const auto words =
      std::make_shared<PatternStore>(heads_of(document), queries.text.size(), keys.text.size());
  MergeSink merged(*words, queries.numbers, keys.numbers, largest_sum);
  for (DocumentPattern& pattern : document.patterns) {
    merged.rows(pattern.head, 0, 0, pattern.weights);
    pattern.weights = words->pattern(pattern.head);
  }
  document.storage = words;
}

}  // namespace

AttentionDocument part_document(const Model& model, AttentionPart part, const PartText& source,
                                const PartText& target, const AttentionRequest& request,
                                const std::shared_ptr<const PatternStore>& patterns) {
  const Model& stack = part == AttentionPart::kEncoder ? *model.encoder : model;
  const PartText& queries = part == AttentionPart::kEncoder ? source : target;
  const PartText& keys = part == AttentionPart::kDecoder ? target : source;
  AttentionDocument document = attention_document(stack, queries.text, request, *patterns);
  document.part = part;
  document.storage = patterns;
  document.model = facts_of_stack(model, stack, queries.text);
  if (queries.folded != nullptr && keys.folded != nullptr) {
    fold_patterns(*queries.folded, *keys.folded, request.largest_sum(), document);
    name_words(document, queries.text, *queries.folded);
  }
  if (part == AttentionPart::kCross) {
    document.run.mask.reset();
    document.run.layers.clear();
    name_keys(keys.folded != nullptr ? keys.folded->text : keys.text, document);
    document.notes.insert(document.notes.begin(), source.text.notes.begin(),
                          source.text.notes.end());
  }
  return document;
}

AttentionDocument shown_part(std::vector<AttentionDocument> all, AttentionPart part) {
  AttentionDocument shown = all[static_cast<std::size_t>(part)];
  shown.parts = std::make_shared<const std::vector<AttentionDocument>>(std::move(all));
  return shown;
}

AttentionDocument decay_document(const Model& model, const TokenizedText& text,
                                 const AttentionRequest& request, const std::vector<HeadId>& heads,
                                 const DecayStore& decays) {
  AttentionDocument document = attention_document(model, text, request, heads);
  document.kind = PatternKind::kDecay;
  document.run.mask = Mask{MaskKind::kCausal};
  const std::size_t n_tokens = text.size();
  const auto shares = std::make_shared<MatrixBuffer>(heads.size() * n_tokens, n_tokens);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Matrix own = shares->view().row_block(i * n_tokens, n_tokens);
    decays.fill(heads[i], own);
    document.patterns[i].weights = own;
  }
  document.notes.emplace_back(
      "how much of the content that a state stored at one token is left at another, before "
      "anything overwrites it; this is not attention: nothing chooses where to look");
  document.storage = shares;
  return document;
}

AttentionDocument router_document(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request,
                                  const std::vector<RoutedLayer>& layers) {
  std::vector<HeadId> places;
  std::size_t n_experts = 0;
  for (const RoutedLayer& one : layers) {
    places.push_back({one.layer, 0});
    n_experts = std::max(n_experts, one.tokens.n_experts);
  }
  AttentionDocument document = attention_document(model, text, request, places);
  document.kind = PatternKind::kRouter;
  document.run.mask.reset();
  document.key_tokens.clear();
  for (std::size_t expert = 0; expert < n_experts; ++expert) {
    document.key_tokens.push_back(std::to_string(expert));
  }
  const std::size_t n_tokens = text.size();
  const auto factors = std::make_shared<MatrixBuffer>(layers.size() * n_tokens, n_experts);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const RoutedTokens& routed = layers[i].tokens;
    const Matrix own = factors->view().row_block(i * n_tokens, n_tokens);
    for (std::size_t token = 0; token < routed.n_tokens(); ++token) {
      const std::span<const std::uint32_t> experts = routed.experts_of(token);
      for (std::size_t k = 0; k < experts.size(); ++k) {
        own(token, experts[k]) = routed.factors_of(token)[k];
      }
    }
    document.patterns[i].weights = own;
  }
  const RoutedTokens& first = layers.front().tokens;
  document.notes.push_back(
      fmt::format("each token is sent to {} of {} experts in a layer; the numbers multiply the "
                  "experts' outputs",
                  first.n_used, first.n_experts));
  document.storage = factors;
  return document;
}

}  // namespace attnviz
