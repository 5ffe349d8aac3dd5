#include "attnviz/render/model_json.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace attnviz {

namespace {

constexpr std::string_view kRandomWeightsNote =
    "The weights are random: the patterns mean nothing. The same seed gives the same numbers.";

}  // namespace

void write_model_member(JsonWriter& json, const Model& model, const TokenizedText& text) {
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

void write_request_members(JsonWriter& json, const Model& model, const AttentionRequest& request) {
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

}  // namespace attnviz
