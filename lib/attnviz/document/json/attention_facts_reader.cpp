#include "attnviz/document/json/attention_facts_reader.h"

#include <fmt/core.h>

#include <cmath>

#include "attnviz/document/json/model_json.h"
#include "attnviz/document/pooling.h"
#include "attnviz/model/mask.h"

namespace attnviz {

std::vector<std::string> read_strings(const JsonNode& node, std::string_view what) {
  if (node.kind() == JsonKind::kNumbers && node.as_numbers().empty()) {
    return {};
  }
  std::vector<std::string> list;
  for (const JsonNode& item : node.as_list(what)) {
    list.emplace_back(item.as_string());
  }
  return list;
}

std::vector<std::size_t> read_indices(const JsonNode& node) {
  std::vector<std::size_t> list;
  for (const float number : node.as_numbers()) {
    constexpr float kMost = 16777216.0f;  // floats count whole numbers up to here
    if (!(number >= 0.0f && number <= kMost) || number != std::floor(number)) {
      node.fail(fmt::format("expected indices from 0, found {}", number));
    }
    list.push_back(static_cast<std::size_t>(number));
  }
  return list;
}

std::size_t read_size(const JsonNode& object, std::string_view key) {
  const auto node = object.find(key);
  return node ? static_cast<std::size_t>(node->as_unsigned()) : 0;
}

ModelFacts read_model(const JsonNode& node) {
  ModelFacts facts;
  if (const auto name = node.find("name")) {
    facts.name = name->as_string();
  }
  if (const auto origin = node.find("origin")) {
    facts.origin = origin->as_string();
  }
  if (const auto family = node.find("family")) {
    facts.family = family->as_string();
  }
  if (const auto random = node.find("random")) {
    facts.random = random->as_bool();
  }
  if (const auto tokens = node.find("random_embeddings")) {
    facts.random_embeddings = read_strings(*tokens, "a list of tokens");
  }
  if (const auto seed = node.find("seed")) {
    facts.seed = seed->as_unsigned();
  }
  facts.n_layers = read_size(node, "n_layers");
  facts.n_heads = read_size(node, "n_heads");
  facts.n_kv_heads = read_size(node, "n_kv_heads");
  facts.d_model = read_size(node, "d_model");
  facts.d_head = read_size(node, "d_head");
  facts.d_value = read_size(node, "d_value");
  if (const auto positions = node.find("positions")) {
    // Learned ones cannot be asked for, but be said of a model.
    facts.positions = parsed(*positions, [](std::string_view name) {
      return name == positions_name(Positions::kLearned) ? Positions::kLearned
                                                         : parse_positions(name);
    });
  }
  if (const auto tokenizer = node.find("tokenizer")) {
    facts.tokenizer = tokenizer->as_string();
  }
  return facts;
}

RunFacts read_run(const JsonNode& root) {
  RunFacts facts;
  if (const auto mask = root.find("mask")) {
    facts.mask = parsed(*mask, parse_mask);
  }
  if (const auto temperature = root.find("temperature")) {
    facts.temperature = temperature->as_number();
  }
  if (const auto scale = root.find("scale")) {
    facts.scale = scale->as_bool();
  }
  if (const auto dropout = root.find("dropout")) {
    facts.dropout = dropout->as_number();
    if (!(facts.dropout >= 0.0f && facts.dropout < 1.0f)) {
      dropout->fail(fmt::format("expected a number from 0 to below 1, found {}", facts.dropout));
    }
  }
  if (const auto seed = root.find("dropout_seed")) {
    facts.dropout_seed = seed->as_unsigned();
  }
  facts.layers = read_layer_facts(root);
  return facts;
}

Drawing read_drawing(const JsonNode& node) {
  Drawing drawing;
  if (const auto colormap = node.find("colormap")) {
    drawing.scale.colormap =
        parsed(*colormap, [](std::string_view name) { return Colormap(name); });
  }
  if (const auto scale = node.find("scale")) {
    drawing.scale.kind = parsed(*scale, parse_scale);
  }
  if (const auto range = node.find("range")) {
    const auto ends = range->as_numbers();
    if (ends.size() != 2) {
      range->fail(fmt::format("expected [low, high], found {} numbers", ends.size()));
    }
    drawing.scale.low = ends[0];
    drawing.scale.high = ends[1];
  }
  try {
    check(drawing.scale);
  } catch (const Error& error) {
    node.fail(error.what());
  }
  if (const auto pool = node.find("pool")) {
    drawing.pool = parsed(*pool, parse_pool);
  }
  if (const auto drop = node.find("drop_sink")) {
    drawing.drop_sink = drop->as_bool();
  }
  if (const auto title = node.find("title")) {
    drawing.title = title->as_string();
  }
  if (const auto names = node.find("side_by_side")) {
    drawing.side_by_side = read_strings(*names, "a list of names");
  }
  if (const auto focus = node.find("focus")) {
    drawing.focus = Focus{read_size(*focus, "token"), focus->at("as_key").as_bool()};
  }
  return drawing;
}

}  // namespace attnviz
