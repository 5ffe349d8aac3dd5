// Writes a Model as the weights JSON format `attnviz.weights/1`: a template to edit.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/error.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/model/weights_json.h"

namespace attnviz {

namespace {

void expect_finite(std::string_view key, std::span<const float> numbers) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); })) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} holds NaN or infinity, which JSON cannot say", key));
  }
}

void write_numbers(JsonWriter& json, std::string_view key, std::span<const float> numbers) {
  expect_finite(key, numbers);
  json.member_if_any(key, numbers);
}

void write_matrix(JsonWriter& json, std::string_view key, ConstMatrix matrix) {
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    expect_finite(key, matrix.row(i));
  }
  json.member_if_any(key, matrix);
}

void write_head(JsonWriter& json, const HeadWeights& head) {
  write_matrix(json, "W_Q", head.query.weight.as_floats());
  write_numbers(json, "b_Q", head.query.bias);
  write_matrix(json, "W_K", head.key.weight.as_floats());
  write_numbers(json, "b_K", head.key.bias);
  write_matrix(json, "W_V", head.value.weight.as_floats());
  write_numbers(json, "b_V", head.value.bias);
  write_matrix(json, "W_O", head.output.as_floats());
}

void write_layer(JsonWriter& json, const LayerWeights& layer) {
  json.objects("heads", layer.heads, [&](const HeadWeights& head) { write_head(json, head); });
  write_matrix(json, "W_O", layer.output.weight.as_floats());
  write_numbers(json, "b_O", layer.output.bias);
}

void write_config(JsonWriter& json, const Model& model) {
  const ModelConfig& config = model.config;
  json.member("schema", "attnviz.weights/1");
  json.member("name", config.name);
  json.member("random", config.random_weights);
  json.member("seed", config.seed);
  json.member("d_model", config.d_model);
  json.member("tokenizer", config.tokenizer);
  json.member("mask", config.mask.name());
  json.member("positions", positions_name(config.positions));
  json.member("convention", "row");
  json.member("unknown", model.random_unknown ? "random" : "error");
  json.member("residual", config.residual);
  if (!model.text.empty()) {
    json.member("text", model.text);
  }
}

}  // namespace

void write_weights_json(const Model& model, const ByteSink& sink) {
  if (model.config.is_transformer()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: weights JSON holds attention alone, and this model has more",
                            model.config.name));
  }
  JsonWriter json(sink, /*indent=*/2);
  json.begin_object();
  write_config(json, model);
  if (!model.vocabulary.empty()) {
    json.begin_object("embeddings");
    for (std::size_t i = 0; i < model.vocabulary.size(); ++i) {
      write_numbers(json, model.vocabulary[i], model.embeddings.as_floats().row(i));
    }
    json.end_object();
  }
  write_matrix(json, "inputs", model.inputs);
  json.objects("layers", model.layers,
               [&](const LayerWeights& layer) { write_layer(json, layer); });
  json.end_object();
  json.finish();
}

}  // namespace attnviz
