#include "attnviz/document/json/model_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "attnviz/formats/json_members.h"

namespace attnviz {

namespace {

constexpr std::string_view kRandomWeightsNote =
    "The weights are random: the patterns mean nothing. The same seed gives the same numbers.";

void write_size(JsonWriter& json, std::string_view key, std::size_t size) {
  if (size != 0) {
    json.member(key, std::uint64_t{size});
  }
}

}  // namespace

void write_model_member(JsonWriter& json, const ModelFacts& facts) {
  json.begin_object("model");
  json.member("name", facts.name);
  if (!facts.origin.empty()) {
    json.member("origin", facts.origin);
  }
  if (!facts.family.empty()) {
    json.member("family", facts.family);
  }
  if (facts.random) {
    json.member("random", true);
    json.member("note", kRandomWeightsNote);
  }
  if (!facts.random_embeddings.empty()) {
    json.begin_array("random_embeddings");
    for (const std::string& token : facts.random_embeddings) {
      json.value(token);
    }
    json.end_array();
  }
  if (facts.seed) {
    json.member("seed", *facts.seed);
  }
  write_size(json, "n_layers", facts.n_layers);
  write_size(json, "n_heads", facts.n_heads);
  write_size(json, "n_kv_heads", facts.n_kv_heads);
  write_size(json, "d_model", facts.d_model);
  write_size(json, "d_head", facts.d_head);
  write_size(json, "d_value", facts.d_value);
  if (facts.positions != Positions::kNone) {
    json.member("positions", positions_name(facts.positions));
  }
  if (!facts.tokenizer.empty()) {
    json.member("tokenizer", facts.tokenizer);
  }
  json.end_object();
}

void write_run_members(JsonWriter& json, const RunFacts& facts) {
  if (facts.mask) {
    json.member("mask", facts.mask->name());
  }
  json.member("temperature", facts.temperature);
  if (!facts.scale) {
    json.member("scale", false);
  }
  if (facts.dropout > 0.0f) {
    json.member("dropout", facts.dropout);
    json.member("dropout_seed", facts.dropout_seed);
  }
  if (facts.layers.empty()) {
    return;
  }
  json.begin_array("layer_facts");
  for (const LayerFacts& layer : facts.layers) {
    json.begin_object();
    json.member("layer", std::uint64_t{layer.layer});
    write_size(json, "window", layer.window);
    if (layer.soft_cap > 0.0f) {
      json.member("soft_cap", layer.soft_cap);
    }
    json.end_object();
  }
  json.end_array();
}

std::vector<LayerFacts> read_layer_facts(const JsonNode& root) {
  std::vector<LayerFacts> layers;
  const auto list = root.find("layer_facts");
  if (!list) {
    return layers;
  }
  for (const JsonNode& node : list->as_list("a list of what layers do in their own way")) {
    LayerFacts layer;
    layer.layer = static_cast<std::size_t>(node.at("layer").as_unsigned());
    read_if_there(node, "window", layer.window);
    read_if_there(node, "soft_cap", layer.soft_cap);
    layers.push_back(layer);
  }
  return layers;
}

}  // namespace attnviz
