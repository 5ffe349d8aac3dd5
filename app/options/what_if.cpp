#include "options/what_if.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/words/words.h"
#include "attnviz/text/token_choice.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

constexpr std::string_view kAblate = "--ablate";
constexpr std::string_view kHide = "--hide";

[[noreturn]] void fail_item(std::string_view option, std::string_view expected,
                            std::string_view found) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected {}, found {}", option, expected, in_quotes(found)));
}

AblationRule parse_item(std::string_view item, bool by_mean) {
  AblationRule rule;
  rule.item = item;
  rule.by_mean = by_mean;
  constexpr std::string_view kMlp = ".mlp";
  rule.mlps = item.ends_with(kMlp);
  const auto places =
      parse_head_places(rule.mlps ? item.substr(0, item.size() - kMlp.size()) : item);
  const bool is_clear =
      places && (rule.mlps ? !places->heads : places->heads || places->has_letter);
  if (!is_clear) {
    fail_item(kAblate, "a head as in 2.1, a layer's attention as in L2, or its MLP as in L2.mlp",
              item);
  }
  rule.layers = places->layers;
  rule.heads = places->heads.value_or(IndexRange{});
  return rule;
}

// The position of `sign` outside double quotes; npos if there is none.
std::size_t find_unquoted(std::string_view text, char sign, std::size_t from = 0) {
  bool is_quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    is_quoted = is_quoted != (text[i] == '"');
    if (!is_quoted && text[i] == sign) {
      return i;
    }
  }
  return std::string_view::npos;
}

TokenPart token_part(std::string_view word, std::string_view rule) {
  if (word.empty() || word == "\"\"") {
    fail_item(kHide, "tokens on both sides of >, as in \"sat>cat\" or \"3-5>0\"", rule);
  }
  if (word.front() == '"') {
    if (word.size() < 2 || word.find('"', 1) != word.size() - 1) {
      fail_item(kHide, "a closing quote after the words", word);
    }
    return NamedTokens{std::string(word.substr(1, word.size() - 2)), true};
  }
  const std::size_t dash = word.find('-', 1);
  const std::size_t stop = word.find_first_not_of("0123456789-");
  if (word == "*" || (dash != std::string_view::npos && stop == std::string_view::npos)) {
    const bool has_end = dash + 1 != word.size();
    const auto range = parse_index_range(word == "*" || has_end ? word : word.substr(0, dash));
    if (!range) {
      fail_item(kHide, "a range as in 3-5 or 3-", word);
    }
    return has_end ? *range : IndexRange{range->first, IndexRange::kNoEnd};
  }
  return NamedTokens{std::string(word), false};
}

std::vector<TokenPart> token_parts(std::string_view list, std::string_view rule) {
  std::vector<TokenPart> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(find_unquoted(list, ',', begin), list.size());
    parts.push_back(token_part(list_parts(list.substr(begin, end - begin), '\0').front(), rule));
    begin = end + 1;
  }
  return parts;
}

// Runs `check`; its error also names the option and the word.
template <class Check>
void check_about(std::string_view option, std::string_view word, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} {}: {}", option, word, error.what()));
  }
}

void add_ablations(const AblationRule& rule, const Model& model, std::vector<Ablation>& ablations) {
  if (rule.mlps) {
    const IndexRange& layers = rule.layers;
    std::size_t last = layers.end == IndexRange::kNoEnd
                           ? std::max(layers.first, model.n_layers() - 1)
                           : layers.end - 1;
    while (last > layers.first && last < model.n_layers() && !model.layers[last].has_mlp()) {
      --last;
    }
    check_interventions(model, {{{last, std::nullopt, true, rule.by_mean}}, {}});
  } else {
    check_interventions(model, {{}, {{{}, {}, rule.layers, rule.heads}}});
  }
  const std::size_t end_layer = std::min(rule.layers.end, model.n_layers());
  for (std::size_t layer = rule.layers.first; layer < end_layer; ++layer) {
    const LayerWeights& weights = model.layers[layer];
    if ((rule.mlps ? !weights.has_mlp() : weights.heads.empty()) &&
        rule.layers != IndexRange{layer, layer + 1}) {
      continue;  // a range skips layers without these parts
    }
    if (rule.mlps || rule.heads.is_all()) {
      ablations.push_back({layer, std::nullopt, rule.mlps, rule.by_mean});
      check_interventions(model, {{ablations.back()}, {}});
      continue;
    }
    const std::size_t end_head = std::min(rule.heads.end, model.layers[layer].heads.size());
    for (std::size_t head = rule.heads.first; head < end_head; ++head) {
      ablations.push_back({layer, head, false, rule.by_mean});
    }
  }
}

// Heads come after their layer, so the more specific ablation is made last.
auto in_order(const Ablation& ablation) {
  return std::tuple(ablation.layer, ablation.mlp, ablation.head);
}

// A word that is not a token may be several tokens.
TokenChoices choices_of(const NamedTokens& named, const TokenizedText& text) {
  if (named.quoted) {
    return tokens_of_words(text, named.words, kHide);
  }
  try {
    return choose_tokens(text, named.words, kHide);
  } catch (const Error&) {
    if (named.words.find_first_not_of("-0123456789") != std::string::npos) {
      try {
        return tokens_of_words(text, named.words, kHide);
      } catch (const Error&) {  // the text does not contain it
      }
    }
    throw;
  }
}

// Indices of tokens, ascending.
std::vector<std::size_t> indices_of(const NamedTokens& named, const TokenizedText& text,
                                    std::vector<std::string>& notes) {
  TokenChoices choices = choices_of(named, text);
  if (!choices.note.empty() && std::ranges::find(notes, choices.note) == notes.end()) {
    notes.push_back(std::move(choices.note));
  }
  return std::move(choices.indices);
}

std::vector<IndexRange> ranges_in(const std::vector<TokenPart>& parts, const TokenizedText& text,
                                  std::vector<std::string>& notes) {
  std::vector<IndexRange> ranges;
  for (const TokenPart& part : parts) {
    if (const auto* const named = std::get_if<NamedTokens>(&part)) {
      for (const std::size_t index : indices_of(*named, text, notes)) {
        ranges.push_back({index, index + 1});
      }
      continue;
    }
    const IndexRange& range = std::get<IndexRange>(part);
    const std::size_t last = range.end == IndexRange::kNoEnd ? range.first : range.end - 1;
    if (last >= text.size()) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: expected indices from 0 to {}, found {}",
                                                 kHide, text.size() - 1, last));
    }
    ranges.push_back(range);
  }
  return merged_ranges(std::move(ranges));
}

// Whether any head that the edges apply to sees one of them in any of the runs; edges in `hidden`
// count as unseen.
bool any_is_seen(const std::vector<KnockOut>& edges, const Interventions& hidden,
                 std::size_t n_tokens, const Model& model,
                 std::span<const AttentionRequest> requests) {
  const auto is_seen = [&](const KnockOut& one, const Visibility& seen) {
    const std::size_t end_key = std::min(one.keys.end, n_tokens);
    for (std::size_t q = one.queries.first; q < std::min(one.queries.end, n_tokens); ++q) {
      if (seen.n_visible(q, one.keys.first, end_key) > 0) {
        return true;
      }
    }
    return false;
  };
  const IndexRange& layers = edges.front().layers;
  const IndexRange& heads = edges.front().heads;
  VisibilityCache visibilities(n_tokens, n_tokens);
  for (const AttentionRequest& request : requests) {
    for (std::size_t layer = layers.first; layer < std::min(layers.end, model.n_layers());
         ++layer) {
      const std::size_t end_head = std::min(heads.end, model.layers[layer].heads.size());
      for (std::size_t head = heads.first; head < end_head; ++head) {
        const HeadId id{layer, head};
        const Visibility seen = visibilities.of(mask_of(model, layer, request),
                                                edges_hidden_in(hidden, std::span(&id, 1)));
        if (std::ranges::any_of(edges, [&](const KnockOut& one) { return is_seen(one, seen); })) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

std::vector<AblationRule> parse_ablations(std::string_view list) {
  std::vector<AblationRule> rules;
  const auto by_mean = [](std::string_view item) -> std::optional<bool> {
    const std::size_t sign = item.find('=');
    return sign == std::string_view::npos
               ? std::nullopt
               : std::optional(parse_choice(kAblate, item.substr(sign + 1), kReplacements));
  };
  const std::vector<std::string_view> items = list_parts(list);
  const bool usual = by_mean(items.back()).value_or(false);
  rules.reserve(items.size());
  for (const std::string_view item : items) {
    rules.push_back(parse_item(item.substr(0, item.find('=')), by_mean(item).value_or(usual)));
  }
  return rules;
}

HideRule parse_hidden(std::string_view rule) {
  HideRule parsed;
  parsed.rule = rule;
  const std::size_t at = find_unquoted(rule, '@');
  const std::string_view edges = rule.substr(0, at);
  const std::size_t arrow = find_unquoted(edges, '>');
  if (arrow == std::string_view::npos ||
      find_unquoted(edges, '>', arrow + 1) != std::string_view::npos) {
    fail_item(kHide,
              "QUERIES>KEYS as in \"sat>cat\" or \"3-5>0@1\", with double quotes around words that "
              "contain > or @",
              rule);
  }
  parsed.queries = token_parts(edges.substr(0, arrow), rule);
  parsed.keys = token_parts(edges.substr(arrow + 1), rule);
  if (at != std::string_view::npos) {
    const auto places = parse_head_places(rule.substr(at + 1));
    if (!places) {
      fail_item(kHide, "layers after @, as in @1 or @0-2, or a head, as in @2.1", rule);
    }
    parsed.layers = places->layers;
    parsed.heads = places->heads.value_or(IndexRange{});
  }
  return parsed;
}

Interventions interventions_of(const WhatIf& what_if, const Model& model) {
  Interventions interventions;
  std::vector<Ablation>& all = interventions.ablations;
  for (const AblationRule& rule : what_if.ablate) {
    check_about(kAblate, rule.item, [&] { add_ablations(rule, model, all); });
  }
  std::ranges::stable_sort(all, {}, in_order);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto twice = std::ranges::adjacent_find(all, {}, in_order);
  if (twice != all.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: {} cannot become both 0 and its mean", kAblate,
                                               ablation_name(*twice)));
  }
  for (const HideRule& rule : what_if.hide) {
    check_about(kHide, in_quotes(rule.rule), [&] {
      check_interventions(model, {{}, {{{}, {}, rule.layers, rule.heads}}});
    });
  }
  return interventions;
}

std::vector<KnockOut> edges_of(const WhatIf& what_if, const TokenizedText& text,
                               std::size_t n_tokens, const Model& model,
                               std::span<const AttentionRequest> requests,
                               std::vector<std::string>& notes) {
  constexpr std::size_t kMost = 10'000;
  Interventions all;
  std::set<KnockOut> known;
  for (const HideRule& rule : what_if.hide) {
    const std::vector<IndexRange> queries = ranges_in(rule.queries, text, notes);
    const std::vector<IndexRange> keys = ranges_in(rule.keys, text, notes);
    if (queries.size() * keys.size() > kMost - known.size()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} {}: {} times {} positions are too many: use ranges", kHide,
                              in_quotes(rule.rule), queries.size(), keys.size()));
    }
    std::vector<KnockOut> edges;
    for (const IndexRange& query : queries) {
      for (const IndexRange& key : keys) {
        edges.push_back({query, key, rule.layers, rule.heads});
      }
    }
    if (!any_is_seen(edges, all, n_tokens, model, requests)) {
      const bool by_mask = !any_is_seen(edges, {}, n_tokens, model, requests);
      notes.push_back(fmt::format("{} {}: {} already hides these edges", kHide,
                                  in_quotes(rule.rule), by_mask ? "the mask" : "an earlier rule"));
    }
    std::ranges::copy_if(edges, std::back_inserter(all.knock_outs),
                         [&known](const KnockOut& one) { return known.insert(one).second; });
  }
  return std::move(all.knock_outs);
}

namespace {

constexpr std::string_view kOption = "--side-by-side";
constexpr std::string_view kUnchanged = "unchanged";
constexpr std::string_view kAblated = "ablated";

Variant parse_variant(std::string_view word) {
  const bool named = word.starts_with("T=") || word.starts_with("t=");
  const bool number = !word.empty() && std::string_view("0123456789.-+").find(word.front()) !=
                                           std::string_view::npos;
  Variant variant;
  if (named || number) {
    variant.temperature = parse_temperature(kOption, named ? word.substr(2) : word);
    return variant;
  }
  try {
    variant.mask = parse_mask(word);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}, a temperature such as 0.5, or ablated", kOption,
                                          error.what()));
  }
  return variant;
}

}  // namespace

std::string Variant::name() const {
  if (is_ablated) {
    return *is_ablated ? "ablated" : "as it is";
  }
  return mask ? mask->name() : fmt::format("T {}", temperature.value_or(1.0f));
}

AttentionRequest Variant::applied_to(AttentionRequest request) const {
  if (mask) {
    request.mask = mask;
  }
  request.temperature = temperature.value_or(request.temperature);
  if (!is_ablated.value_or(true)) {
    request.interventions = nullptr;
  }
  return request;
}

std::vector<Variant> parse_variants(std::string_view list) {
  using Parts = std::vector<std::string_view>;
  std::vector<Variant> variants;
  const Parts parts = list_parts(list);
  if (parts == Parts{kAblated} || parts == Parts{kUnchanged, kAblated}) {
    variants.resize(2);
    variants[0].is_ablated = false;
    variants[1].is_ablated = true;
    return variants;
  }
  if (std::ranges::any_of(
          parts, [](std::string_view part) { return part == kAblated || part == kUnchanged; })) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: ablated is used alone and means {},{}; found {}", kOption,
                            kUnchanged, kAblated, in_quotes(list)));
  }
  std::set<std::string> names;
  for (const std::string_view part : parts) {
    const Variant variant = parse_variant(part);
    if (!names.insert(variant.name()).second) {
      throw Error(ErrorKind::kUsage, fmt::format("{}: {} is given twice", kOption, variant.name()));
    }
    variants.push_back(variant);
  }
  if (variants.size() < 2) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected two or more masks or temperatures, such as causal,none "
                            "or 0.5,1,2; found {}",
                            kOption, in_quotes(list)));
  }
  return variants;
}

float parse_temperature(std::string_view option, std::string_view word) {
  const float temperature = parse_decimal(option, word);
  if (!is_temperature(temperature)) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: expected a number from 1e-37 to 1e38 (the "
                                               "smaller, the sharper the softmax), found {}",
                                               option, in_quotes(word)));
  }
  return temperature;
}

}  // namespace attnviz::app
