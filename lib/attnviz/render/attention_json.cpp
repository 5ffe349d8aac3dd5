#include "attnviz/render/attention_json.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/render/tokens_json.h"

namespace attnviz {

namespace {

constexpr std::string_view kRandomWeightsNote =
    "The weights are random: the patterns mean nothing. The same seed gives the same numbers.";

void write_model(JsonWriter& json, const Model& model, const TokenizedText& text) {
  const ModelConfig& config = model.config;
  const std::vector<std::string_view> pieces = text.pieces();
  const std::vector<std::string_view> random = random_pieces(model, pieces);
  json.key("model");
  json.begin_object();
  json.key("name");
  json.value(config.name);
  if (config.random_weights) {
    json.key("random");
    json.value(true);
    json.key("note");
    json.value(kRandomWeightsNote);
  }
  // Of a random model every token's vector is random, which need not be listed.
  if (!config.random_weights && !random.empty()) {
    json.key("random_embeddings");
    json.begin_array();
    for (const std::string_view piece : random) {
      json.value(piece);
    }
    json.end_array();
  }
  if (config.random_weights || !random.empty()) {
    json.key("seed");
    json.value(config.seed);
  }
  json.key("n_layers");
  json.value(std::uint64_t{model.n_layers()});
  json.key("n_heads");
  json.value(std::uint64_t{model.n_heads()});
  json.key("d_model");
  json.value(std::uint64_t{config.d_model});
  json.end_object();
}

void write_request(JsonWriter& json, const Model& model, const AttentionRequest& request) {
  json.key("mask");
  json.value(request.mask.value_or(model.config.mask).name());
  json.key("temperature");
  json.value(request.temperature);
  if (!request.scale) {
    json.key("scale");
    json.value(false);
  }
  if (request.dropout > 0.0f) {
    json.key("dropout");
    json.value(request.dropout);
    json.key("dropout_seed");
    json.value(request.dropout_seed);
  }
}

void write_indices(JsonWriter& json, std::string_view key, const std::set<std::size_t>& indices) {
  json.key(key);
  json.begin_array();
  for (const std::size_t index : indices) {
    json.value(std::uint64_t{index});
  }
  json.end_array();
}

void write_rectangle(JsonWriter& json, const PatternStore& patterns) {
  std::set<std::size_t> layers;
  std::set<std::size_t> heads;
  for (const HeadId id : patterns.heads()) {
    layers.insert(id.layer);
    heads.insert(id.head);
  }
  write_indices(json, "layers", layers);
  write_indices(json, "heads", heads);
  json.key("attention");
  json.begin_array();
  for (const std::size_t layer : layers) {
    json.begin_array();
    for (const std::size_t head : heads) {
      json.matrix(patterns.pattern({layer, head}));
    }
    json.end_array();
  }
  json.end_array();
}

void write_selected(JsonWriter& json, const PatternStore& patterns) {
  json.key("selected");
  json.begin_array();
  for (const HeadId id : patterns.heads()) {
    json.begin_object();
    json.key("layer");
    json.value(std::uint64_t{id.layer});
    json.key("head");
    json.value(std::uint64_t{id.head});
    json.key("attention");
    json.matrix(patterns.pattern(id));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_attention_json(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, const PatternStore& patterns,
                          const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.key("schema");
  json.value("attnviz.attention/1");
  write_text_members(json, text);
  write_model(json, model, text);
  write_request(json, model, request);
  if (is_rectangle(patterns.heads())) {
    write_rectangle(json, patterns);
  } else {
    write_selected(json, patterns);
  }
  json.end_object();
  json.finish();
}

}  // namespace attnviz
