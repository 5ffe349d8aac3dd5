#include "attnviz/report/run_facts.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

// The number of distinct pairs of key and value matrices in a layer.
std::size_t n_key_value_heads(const LayerWeights& layer) {
  const std::vector<std::size_t> numbers = key_value_heads(layer);
  return 1 + *std::max_element(numbers.begin(), numbers.end());
}

// The common value of `size_of` for all `items`; 0 if they differ.
template <class Items, class SizeOf>
std::size_t common_size(const Items& items, const SizeOf& size_of) {
  const std::size_t size = items.empty() ? 0 : size_of(items.front());
  const bool all = std::all_of(items.begin(), items.end(),
                               [&](const auto& item) { return size_of(item) == size; });
  return all ? size : 0;
}

// The same for layers with heads.
template <class SizeOf>
std::size_t common_layer_size(const Model& model, const SizeOf& size_of) {
  std::vector<std::reference_wrapper<const LayerWeights>> layers;
  std::ranges::copy_if(model.layers, std::back_inserter(layers),
                       [](const LayerWeights& layer) { return !layer.heads.empty(); });
  return common_size(layers, size_of);
}

std::size_t common_head_size(const Model& model, std::size_t (HeadWeights::*size)() const) {
  return common_layer_size(model, [size](const LayerWeights& layer) {
    return common_size(layer.heads, [size](const HeadWeights& head) { return (head.*size)(); });
  });
}

// The mask that all layers share, or the model's configured mask if they differ.
Mask common_mask(const Model& model, const AttentionRequest& request) {
  const Mask first = mask_of(model, 0, request);
  for (std::size_t layer = 1; layer < model.n_layers(); ++layer) {
    if (mask_of(model, layer, request) != first) {
      return model.config.mask;
    }
  }
  return first;
}

std::string layer_text(const LayerFacts& layer) {
  std::vector<std::string> parts;
  if (layer.mixer == MixerKind::kNone) {
    parts.emplace_back("only an MLP, no attention");
  } else if (layer.mixer != MixerKind::kAttention) {
    parts.push_back(fmt::format("{} instead of attention", mixer_phrase(layer.mixer)));
  }
  if (layer.beside != MixerKind::kAttention) {
    parts.push_back(fmt::format("{} beside attention", mixer_phrase(layer.beside)));
  }
  if (layer.window > 0) {
    parts.push_back(fmt::format("window {}", layer.window));
  }
  if (layer.around > 0) {
    parts.push_back(fmt::format("sees {} to either side", counted(layer.around, "token")));
  }
  if (layer.soft_cap > 0.0f) {
    parts.push_back(fmt::format("soft cap {}", layer.soft_cap));
  }
  return joined_by(parts, ", ");
}

// "layer 3", "layers 0 to 25", "layers 0, 2 and 4", "layers 0, 2 ... 24".
std::string layer_names(const std::vector<std::size_t>& layers) {
  constexpr std::size_t kMostNamed = 4;
  if (layers.size() == 1) {
    return fmt::format("layer {}", layers.front());
  }
  const std::size_t step = layers[1] - layers[0];
  bool even = true;
  for (std::size_t i = 1; i < layers.size(); ++i) {
    even = even && layers[i] - layers[i - 1] == step;
  }
  if (even && step == 1) {
    return fmt::format("layers {} to {}", layers.front(), layers.back());
  }
  if (even && layers.size() > kMostNamed) {
    return fmt::format("layers {}, {} ... {}", layers[0], layers[1], layers.back());
  }
  std::vector<std::string> names;
  names.reserve(kMostNamed + 1);
  for (std::size_t i = 0; i < std::min(layers.size(), kMostNamed); ++i) {
    names.push_back(std::to_string(layers[i]));
  }
  if (layers.size() > kMostNamed) {
    names.push_back(fmt::format("{} more", layers.size() - kMostNamed));
  }
  return "layers " + joined(names, "and");
}

// "a, b and 3 more", each as `shown` writes it.
std::string few_of(std::span<const std::string> names,
                   const std::function<std::string(std::string_view)>& shown) {
  constexpr std::size_t kMostNamed = 5;
  std::string named;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
    named += (i == 0 ? "" : ", ") + shown(names[i]);
  }
  return names.size() <= kMostNamed
             ? named
             : named + fmt::format(" and {} more", names.size() - kMostNamed);
}

}  // namespace

ModelFacts model_facts(const Model& model, const TokenizedText& text) {
  const ModelConfig& config = model.config;
  ModelFacts facts;
  facts.name = valid_utf8(config.name);
  facts.origin = config.origin;
  facts.family = config.family;
  for (const std::string& key : config.unknown_keys) {
    facts.unknown_keys.push_back(valid_utf8(key));
  }
  facts.random = config.random_weights;
  // In a random model every embedding is random, so none is listed.
  if (!facts.random) {
    const std::vector<std::string_view> pieces = text.pieces();
    for (const std::string_view piece : random_pieces(model, pieces)) {
      facts.random_embeddings.push_back(valid_utf8(piece));
    }
  }
  if (facts.random || !facts.random_embeddings.empty()) {
    facts.seed = config.seed;
  }
  facts.n_layers = model.n_layers();
  facts.n_heads = model.n_heads();
  facts.n_kv_heads = common_layer_size(model, n_key_value_heads);
  facts.d_model = config.d_model;
  facts.d_head = common_head_size(model, &HeadWeights::d_head);
  facts.d_value = common_head_size(model, &HeadWeights::d_value);
  facts.positions = config.positions;
  facts.tokenizer = config.tokenizer;
  facts.named_heads = config.named_heads;
  return facts;
}

std::string names_of(const ModelFacts& facts, HeadId head) {
  std::string names;
  if (!facts.named_heads) {
    return names;
  }
  for (const NamedHead& named : *facts.named_heads) {
    if (HeadId{named.layer, named.head} == head) {
      names += (names.empty() ? "" : ", ") + named.name;
    }
  }
  return names;
}

std::string names_note(const ModelFacts& facts, std::span<const HeadId> heads) {
  if (!facts.named_heads) {
    return {};
  }
  constexpr std::size_t kMost = 6;
  struct Bearers {
    std::string heads;
    std::size_t count = 0;
  };
  const std::set<HeadId> wanted(heads.begin(), heads.end());
  std::map<std::string, Bearers> all;
  for (const NamedHead& named : *facts.named_heads) {
    const HeadId head{named.layer, named.head};
    if (!wanted.contains(head)) {
      continue;
    }
    Bearers& bearers = all[named.name];
    if (++bearers.count <= kMost) {
      bearers.heads += " " + head_title(head);
    }
  }
  std::string note;
  for (const auto& [name, bearers] : all) {
    note += (note.empty() ? "heads identified on random tokens: " : ", ") + name + bearers.heads;
    note += bearers.count > kMost ? fmt::format(" and {} more", bearers.count - kMost) : "";
  }
  return note.empty() ? "heads identified on random tokens: none of those shown" : note;
}

std::optional<Mask> LayerFacts::mask() const noexcept {
  return window > 0   ? std::optional(Mask{MaskKind::kWindow, window})
         : around > 0 ? std::optional(Mask{MaskKind::kAround, around})
                      : std::nullopt;
}

void forget_layer_masks(RunFacts& facts) {
  for (LayerFacts& layer : facts.layers) {
    layer.window = layer.around = 0;
  }
  std::erase_if(facts.layers, [](const LayerFacts& layer) {
    return layer.soft_cap == 0.0f && !layer.learned_sink && layer.mixer == MixerKind::kAttention &&
           layer.beside == MixerKind::kAttention;
  });
}

RunFacts run_facts(const Model& model, const AttentionRequest& request) {
  RunFacts facts{common_mask(model, request),
                 request.temperature,
                 request.scale,
                 request.dropout,
                 request.dropout_seed,
                 {},
                 request.interventions == nullptr ? Interventions{} : *request.interventions,
                 {}};
  facts.changes_mask = request.mask && request.mask != common_mask(model, {});
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (const MixerKind mixer = model.layers[layer].mixer(); mixer != MixerKind::kAttention) {
      facts.layers.push_back({.layer = layer, .mixer = mixer});
      continue;
    }
    const Mask mask = mask_of(model, layer, request);
    const auto size_of = [&](MaskKind kind) {
      return mask.kind == kind && mask != facts.mask ? mask.size : 0;
    };
    const bool has_both = model.layers[layer].has_both();
    const LayerFacts own{
        .layer = layer,
        .window = size_of(MaskKind::kWindow),
        .soft_cap = model.layers[layer].soft_cap,
        .around = size_of(MaskKind::kAround),
        .learned_sink = !model.layers[layer].sinks.empty(),
        .beside = has_both ? model.layers[layer].recurrence.kind : MixerKind::kAttention};
    if (own.mask() || own.soft_cap > 0.0f || own.learned_sink || has_both) {
      facts.layers.push_back(own);
    }
  }
  return facts;
}

std::vector<std::string> layer_notes(const RunFacts& facts, std::span<const std::size_t> layers) {
  const std::set<std::size_t> drawn(layers.begin(), layers.end());
  std::map<std::string, std::size_t> places;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> alike;
  for (const LayerFacts& layer : facts.layers) {
    if (layer.mixer == MixerKind::kAttention && !drawn.contains(layer.layer)) {
      continue;
    }
    const std::string text = layer_text(layer);
    if (text.empty()) {
      continue;
    }
    const auto [place, is_new] = places.emplace(text, alike.size());
    if (is_new) {
      alike.push_back({text, {}});
    }
    alike[place->second].second.push_back(layer.layer);
  }
  std::vector<std::string> lines;
  lines.reserve(alike.size());
  for (const auto& [text, list] : alike) {
    lines.push_back(fmt::format("{}: {}", layer_names(list), text));
  }
  return lines;
}

std::string model_title(const ModelFacts& facts) {
  if (!facts.random) {
    return facts.name;
  }
  return facts.seed ? fmt::format("random weights (seed {})", *facts.seed) : "random weights";
}

std::string origin_note(const ModelFacts& facts) {
  return facts.origin.empty() ? std::string() : fmt::format("{}: {}", facts.name, facts.origin);
}

std::string random_embeddings_note(const ModelFacts& facts) {
  const std::vector<std::string>& random = facts.random_embeddings;
  return random.empty()
             ? std::string()
             : fmt::format("RANDOM EMBEDDINGS (seed {}): {} has none for {}",
                           facts.seed.value_or(0), facts.name,
                           few_of(random, [](std::string_view name) { return in_quotes(name); }));
}

std::string few_keys(std::span<const std::string> keys) {
  return few_of(keys, shown_name);
}

std::string unknown_keys_note(std::span<const std::string> keys) {
  return keys.empty() ? std::string() : "ignored as unknown: " + few_keys(keys);
}

std::vector<std::string> model_notes(const ModelFacts& facts) {
  std::vector<std::string> lines;
  if (facts.random) {
    lines.emplace_back("RANDOM WEIGHTS: the patterns mean nothing");
  }
  for (const std::string& note :
       {origin_note(facts), random_embeddings_note(facts), unknown_keys_note(facts.unknown_keys)}) {
    if (!note.empty()) {
      lines.push_back(note);
    }
  }
  // Those of a family are in `info`; weights JSON and random weights get theirs from an option.
  if (facts.family.empty() && facts.positions != Positions::kNone) {
    lines.push_back(fmt::format("positions: {}", facts.positions == Positions::kRope ? "RoPE"
                                                 : facts.positions == Positions::kAlibi
                                                     ? "ALiBi"
                                                     : positions_name(facts.positions)));
  }
  return lines;
}

std::vector<std::string> run_notes(const RunFacts& facts) {
  std::vector<std::string> lines;
  if (facts.temperature != 1.0f) {
    lines.push_back(fmt::format("temperature {}", facts.temperature));
  }
  if (!facts.scale) {
    lines.emplace_back("scores not scaled");
  }
  if (facts.dropout > 0.0f) {
    lines.push_back(fmt::format("dropout {} (seed {})", facts.dropout, facts.dropout_seed));
  }
  std::ranges::move(left_out_notes(facts), std::back_inserter(lines));
  if (!std::ranges::all_of(facts.interventions.ablations, &Ablation::mlp)) {
    lines.emplace_back(
        "ablated heads still have attention, but their output does not depend on it");
  }
  return lines;
}

std::vector<std::string> left_out_notes(const RunFacts& facts) {
  std::vector<std::string> lines = intervention_notes(facts.interventions);
  for (const std::string& edges : facts.hidden_in_each) {
    lines.push_back("hidden in each text: " + safe_message(edges, false));
  }
  return lines;
}

std::string continuation_note(const Continuation& continuation) {
  const std::string count = counted(continuation.ids.size(), "token");
  switch (continuation.end) {
    case ContinuationEnd::kLength:
    case ContinuationEnd::kStop:
      break;
    case ContinuationEnd::kEndOfText:
      return continuation.ids.empty()
                 ? fmt::format("the model ends the text here ({}): nothing was generated",
                               in_quotes(continuation.end_token))
                 : fmt::format("the model ended the text ({}) after {} of {}",
                               in_quotes(continuation.end_token), continuation.ids.size(),
                               counted(continuation.asked, "token"));
    case ContinuationEnd::kContext:
      return fmt::format("the model's context is full: {} of {} generated", continuation.ids.size(),
                         counted(continuation.asked, "token"));
  }
  return {};
}

}  // namespace attnviz
