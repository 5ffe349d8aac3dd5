#include "attnviz/render/attention_json.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

void write_text(JsonWriter& json, const TokenizedText& text) {
  json.key("text");
  json.value(text.source);
  json.key("tokens");
  json.begin_array();
  for (const Token& token : text.tokens) {
    json.value(token.text);
  }
  json.end_array();
  json.key("token_ids");
  json.begin_array();
  for (const Token& token : text.tokens) {
    json.value(std::uint64_t{token.id});
  }
  json.end_array();
}

void write_count(JsonWriter& json, std::string_view key, std::size_t count) {
  json.key(key);
  json.value(std::uint64_t{count});
}

void write_model(JsonWriter& json, const Model& model) {
  json.key("model");
  json.begin_object();
  json.key("name");
  json.value(model.config.name);
  json.key("random");
  json.value(model.config.random_weights);
  json.key("seed");
  json.value(model.config.seed);
  write_count(json, "n_layers", model.n_layers());
  write_count(json, "n_heads", model.n_heads());
  write_count(json, "d_model", model.config.d_model);
  json.key("positions");
  json.value(positions_name(model.config.positions));
  json.end_object();
}

// The what-if switches stand in the document only when they are in use.
void write_request(JsonWriter& json, const Model& model, const AttentionRequest& request) {
  json.key("mask");
  json.value(request.mask.value_or(model.config.mask).name());
  json.key("temperature");
  json.value(request.temperature);
  if (!request.scale) {
    json.key("scaled");
    json.value(false);
  }
  if (request.dropout > 0.0f) {
    json.key("dropout");
    json.value(request.dropout);
    json.key("dropout_seed");
    json.value(request.dropout_seed);
  }
}

void write_indices(JsonWriter& json, std::string_view key, std::vector<std::size_t> indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  json.key(key);
  json.begin_array();
  for (const std::size_t index : indices) {
    json.value(std::uint64_t{index});
  }
  json.end_array();
}

void write_rectangle(JsonWriter& json, const PatternStore& patterns) {
  std::vector<HeadId> ids(patterns.heads().begin(), patterns.heads().end());
  std::sort(ids.begin(), ids.end());
  std::vector<std::size_t> layers;
  std::vector<std::size_t> heads;
  for (const HeadId id : ids) {
    layers.push_back(id.layer);
    heads.push_back(id.head);
  }
  write_indices(json, "layers", layers);
  write_indices(json, "heads", heads);
  json.key("attention");
  json.begin_array();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool starts_layer = i == 0 || ids[i].layer != ids[i - 1].layer;
    if (starts_layer && i > 0) {
      json.end_array();
    }
    if (starts_layer) {
      json.begin_array();
    }
    json.matrix(patterns.pattern(ids[i]));
  }
  json.end_array();
  json.end_array();
}

void write_selected(JsonWriter& json, const PatternStore& patterns) {
  json.key("selected");
  json.begin_array();
  for (const HeadId id : patterns.heads()) {
    json.begin_object();
    write_count(json, "layer", id.layer);
    write_count(json, "head", id.head);
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
  write_text(json, text);
  write_model(json, model);
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
