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
    json.key(key);
    json.value(std::uint64_t{size});
  }
}

}  // namespace

void write_model_member(JsonWriter& json, const ModelFacts& facts) {
  json.key("model");
  json.begin_object();
  json.key("name");
  json.value(facts.name);
  if (!facts.origin.empty()) {
    json.key("origin");
    json.value(facts.origin);
  }
  if (!facts.family.empty()) {
    json.key("family");
    json.value(facts.family);
  }
  if (facts.random) {
    json.key("random");
    json.value(true);
    json.key("note");
    json.value(kRandomWeightsNote);
  }
  if (!facts.random_embeddings.empty()) {
    json.key("random_embeddings");
    json.begin_array();
    for (const std::string& token : facts.random_embeddings) {
      json.value(token);
    }
    json.end_array();
  }
  if (facts.seed) {
    json.key("seed");
    json.value(*facts.seed);
  }
  write_size(json, "n_layers", facts.n_layers);
  write_size(json, "n_heads", facts.n_heads);
  write_size(json, "n_kv_heads", facts.n_kv_heads);
  write_size(json, "d_model", facts.d_model);
  write_size(json, "d_head", facts.d_head);
  write_size(json, "d_value", facts.d_value);
  if (facts.positions != Positions::kNone) {
    json.key("positions");
    json.value(positions_name(facts.positions));
  }
  if (!facts.tokenizer.empty()) {
    json.key("tokenizer");
    json.value(facts.tokenizer);
  }
  json.end_object();
}

void write_run_members(JsonWriter& json, const RunFacts& facts) {
  if (facts.mask) {
    json.key("mask");
    json.value(facts.mask->name());
  }
  json.key("temperature");
  json.value(facts.temperature);
  if (!facts.scale) {
    json.key("scale");
    json.value(false);
  }
  if (facts.dropout > 0.0f) {
    json.key("dropout");
    json.value(facts.dropout);
    json.key("dropout_seed");
    json.value(facts.dropout_seed);
  }
  if (facts.layers.empty()) {
    return;
  }
  json.key("layer_facts");
  json.begin_array();
  for (const LayerFacts& layer : facts.layers) {
    json.begin_object();
    json.key("layer");
    json.value(std::uint64_t{layer.layer});
    write_size(json, "window", layer.window);
    if (layer.soft_cap > 0.0f) {
      json.key("soft_cap");
      json.value(layer.soft_cap);
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
