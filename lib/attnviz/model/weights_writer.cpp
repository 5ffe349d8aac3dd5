// Writes a Model as the weights JSON format `attnviz.weights/1`: a template to edit.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/model/weights_json.h"

namespace attnviz {

namespace {

class Writer {
 public:
  explicit Writer(const ByteSink& sink) : json_(sink, /*indent=*/2) {}

  void write(const Model& model);

 private:
  void write_config(const Model& model);
  void write_layer(const LayerWeights& layer);
  void write_head(const HeadWeights& head);
  void write_numbers(std::string_view key, std::span<const float> numbers);
  void write_matrix(std::string_view key, ConstMatrix matrix);

  JsonWriter json_;
};

void expect_finite(std::string_view key, std::span<const float> numbers) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); })) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{} holds NaN or infinity, which JSON cannot say", key));
  }
}

void Writer::write(const Model& model) {
  if (model.config.is_transformer()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: weights JSON holds attention alone, and this model has more",
                            model.config.name));
  }
  json_.begin_object();
  write_config(model);
  if (!model.vocabulary.empty()) {
    json_.begin_object("embeddings");
    for (std::size_t i = 0; i < model.vocabulary.size(); ++i) {
      write_numbers(model.vocabulary[i], model.embeddings.as_floats().row(i));
    }
    json_.end_object();
  }
  write_matrix("inputs", model.inputs);
  json_.begin_array("layers");
  for (const LayerWeights& layer : model.layers) {
    write_layer(layer);
  }
  json_.end_array();
  json_.end_object();
  json_.finish();
}

void Writer::write_config(const Model& model) {
  const ModelConfig& config = model.config;
  json_.member("schema", "attnviz.weights/1");
  json_.member("name", config.name);
  json_.member("random", config.random_weights);
  json_.member("seed", config.seed);
  json_.member("d_model", config.d_model);
  json_.member("tokenizer", config.tokenizer);
  json_.member("mask", config.mask.name());
  json_.member("positions", positions_name(config.positions));
  json_.member("convention", "row");
  json_.member("unknown", model.random_unknown ? "random" : "error");
  json_.member("residual", config.residual);
}

void Writer::write_layer(const LayerWeights& layer) {
  json_.begin_object();
  json_.begin_array("heads");
  for (const HeadWeights& head : layer.heads) {
    write_head(head);
  }
  json_.end_array();
  write_matrix("W_O", layer.output.weight.as_floats());
  write_numbers("b_O", layer.output.bias);
  json_.end_object();
}

void Writer::write_head(const HeadWeights& head) {
  json_.begin_object();
  write_matrix("W_Q", head.query.weight.as_floats());
  write_numbers("b_Q", head.query.bias);
  write_matrix("W_K", head.key.weight.as_floats());
  write_numbers("b_K", head.key.bias);
  write_matrix("W_V", head.value.weight.as_floats());
  write_numbers("b_V", head.value.bias);
  write_matrix("W_O", head.output.as_floats());
  json_.end_object();
}

void Writer::write_numbers(std::string_view key, std::span<const float> numbers) {
  if (numbers.empty()) {
    return;
  }
  expect_finite(key, numbers);
  json_.member(key, numbers);
}

void Writer::write_matrix(std::string_view key, ConstMatrix matrix) {
  if (matrix.empty()) {
    return;
  }
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    expect_finite(key, matrix.row(i));
  }
  json_.member(key, matrix);
}

}  // namespace

void write_weights_json(const Model& model, const ByteSink& sink) {
  Writer(sink).write(model);
}

}  // namespace attnviz
