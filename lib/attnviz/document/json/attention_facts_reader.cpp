#include "attnviz/document/json/attention_facts_reader.h"

#include <fmt/core.h>

#include <cmath>

#include "attnviz/document/json/run_json.h"
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
  std::size_t size = 0;
  read_if_there(object, key, size);
  return size;
}

ModelFacts read_model(const JsonNode& node) {
  ModelFacts facts;
  read_if_there(node, "name", facts.name);
  read_if_there(node, "origin", facts.origin);
  read_if_there(node, "family", facts.family);
  read_if_there(node, "random", facts.random);
  if (const auto tokens = node.find("random_embeddings")) {
    facts.random_embeddings = read_strings(*tokens, "a list of tokens");
  }
  read_if_there(node, "seed", facts.seed);
  read_if_there(node, "n_layers", facts.n_layers);
  read_if_there(node, "n_heads", facts.n_heads);
  read_if_there(node, "n_kv_heads", facts.n_kv_heads);
  read_if_there(node, "d_model", facts.d_model);
  read_if_there(node, "d_head", facts.d_head);
  read_if_there(node, "d_value", facts.d_value);
  if (const auto positions = node.find("positions")) {
    // Learned ones cannot be asked for, but be said of a model.
    facts.positions = parsed(*positions, [](std::string_view name) {
      return name == positions_name(Positions::kLearned) ? Positions::kLearned
                                                         : parse_positions(name);
    });
  }
  read_if_there(node, "tokenizer", facts.tokenizer);
  return facts;
}

RunFacts read_run(const JsonNode& root) {
  RunFacts facts;
  if (const auto mask = root.find("mask")) {
    facts.mask = parsed(*mask, parse_mask);
  }
  read_if_there(root, "temperature", facts.temperature);
  read_if_there(root, "scale", facts.scale);
  if (const auto dropout = root.find("dropout")) {
    facts.dropout = dropout->as_number();
    if (!(facts.dropout >= 0.0f && facts.dropout < 1.0f)) {
      dropout->fail(fmt::format("expected a number from 0 to below 1, found {}", facts.dropout));
    }
  }
  read_if_there(root, "dropout_seed", facts.dropout_seed);
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
    drawing.scale.kind =
        parsed(*scale, [](std::string_view word) { return parse_choice("scale", word, kScales); });
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
  read_if_there(node, "drop_sink", drawing.drop_sink);
  read_if_there(node, "title", drawing.title);
  if (const auto names = node.find("side_by_side")) {
    drawing.side_by_side = read_strings(*names, "a list of names");
  }
  if (const auto focus = node.find("focus")) {
    drawing.focus = Focus{read_size(*focus, "token"), focus->at("as_key").as_bool()};
  }
  return drawing;
}

}  // namespace attnviz
