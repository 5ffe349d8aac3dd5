#include "attnviz/render/run_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// How many pairs of key and value matrices the heads of a layer share. Heads that share have views
// of the same numbers.
std::size_t key_value_heads(const LayerWeights& layer) {
  std::set<std::pair<const void*, const void*>> different;
  for (const HeadWeights& head : layer.heads) {
    different.emplace(head.key.weight.data, head.value.weight.data);
  }
  return different.size();
}

// What `size_of` says of every one of `items`; 0 where they differ.
template <class Items, class SizeOf>
std::size_t common_size(const Items& items, const SizeOf& size_of) {
  const std::size_t size = items.empty() ? 0 : size_of(items.front());
  const bool all = std::all_of(items.begin(), items.end(),
                               [&](const auto& item) { return size_of(item) == size; });
  return all ? size : 0;
}

std::size_t common_head_size(const Model& model, std::size_t (HeadWeights::*size)() const) {
  return common_size(model.layers, [size](const LayerWeights& layer) {
    return common_size(layer.heads, [size](const HeadWeights& head) { return (head.*size)(); });
  });
}

// What all layers see; where they differ, what the model says of itself.
Mask common_mask(const Model& model, const AttentionRequest& request) {
  const Mask first = mask_of(model, 0, request);
  for (std::size_t layer = 1; layer < model.n_layers(); ++layer) {
    if (mask_of(model, layer, request) != first) {
      return model.config.mask;
    }
  }
  return first;
}

}  // namespace

ModelFacts model_facts(const Model& model, const TokenizedText& text) {
  const ModelConfig& config = model.config;
  ModelFacts facts;
  facts.name = valid_utf8(config.name);
  facts.random = config.random_weights;
  // Of a random model every token's vector is random, which need not be listed.
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
  facts.n_kv_heads = common_size(model.layers, key_value_heads);
  facts.d_model = config.d_model;
  facts.d_head = common_head_size(model, &HeadWeights::d_head);
  facts.d_value = common_head_size(model, &HeadWeights::d_value);
  facts.positions = config.positions;
  facts.tokenizer = config.tokenizer;
  return facts;
}

RunFacts run_facts(const Model& model, const AttentionRequest& request) {
  return {common_mask(model, request), request.temperature, request.scale, request.dropout,
          request.dropout_seed};
}

std::string model_title(const ModelFacts& facts) {
  if (!facts.random) {
    return facts.name;
  }
  return facts.seed ? fmt::format("random weights (seed {})", *facts.seed) : "random weights";
}

std::string random_embeddings_note(const ModelFacts& facts) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<std::string>& random = facts.random_embeddings;
  if (random.empty()) {
    return {};
  }
  std::string named;
  for (std::size_t i = 0; i < std::min(random.size(), kMostNamed); ++i) {
    named += (i == 0 ? "" : ", ") + attnviz::quoted(random[i]);
  }
  if (random.size() > kMostNamed) {
    named += fmt::format(" and {} more", random.size() - kMostNamed);
  }
  return fmt::format("RANDOM EMBEDDINGS (seed {}): {} has none for {}", facts.seed.value_or(0),
                     facts.name, named);
}

std::vector<std::string> model_notes(const ModelFacts& facts) {
  std::vector<std::string> lines;
  if (facts.random) {
    lines.emplace_back("RANDOM WEIGHTS: the pattern means nothing");
  }
  if (std::string note = random_embeddings_note(facts); !note.empty()) {
    lines.push_back(std::move(note));
  }
  if (facts.positions != Positions::kNone) {
    lines.push_back(fmt::format("positions {}", positions_name(facts.positions)));
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
  return lines;
}

}  // namespace attnviz
