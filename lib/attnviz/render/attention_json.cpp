#include "attnviz/render/attention_json.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "attnviz/attention/head_selection.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/render/model_json.h"
#include "attnviz/render/tokens_json.h"

namespace attnviz {

namespace {

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
  write_model_member(json, model, text);
  write_request_members(json, model, request);
  if (is_rectangle(patterns.heads())) {
    write_rectangle(json, patterns);
  } else {
    write_selected(json, patterns);
  }
  json.end_object();
  json.finish();
}

}  // namespace attnviz
