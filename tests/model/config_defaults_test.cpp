// What a config.json leaves to its library, and what RoBERTa's padding does.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/hugging_face.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::with_settings;

const Rope& rope_of(const Model& model, std::size_t layer) {
  return *model.layers[layer].rope;
}

}  // namespace

// transformers' configuration classes.
TEST_CASE("a config's silence means what its library assumes") {
  CHECK(with_settings("phi3-window", {{"rms_norm_eps", nullptr}})
            .layers.front()
            .attention_norm.epsilon == 1e-5);
  CHECK(with_settings("llama-mha-untied", {{"rms_norm_eps", nullptr}})
            .layers.front()
            .attention_norm.epsilon == 1e-6);
  CHECK(with_settings("llama-mha-untied", {{"max_position_embeddings", nullptr}}).config.n_ctx ==
        2048);
  CHECK(with_settings("mistral-window", {{"max_position_embeddings", nullptr}}).config.n_ctx ==
        131072);
  CHECK(with_settings("qwen2-bias", {{"max_position_embeddings", nullptr}}).config.n_ctx == 32768);
  const Model phi = with_settings(
      "phi3-longrope-long",
      {{"original_max_position_embeddings", nullptr}, {"max_position_embeddings", 8192}});
  CHECK(rope_of(phi, 0).original_n_ctx == 4096);
}

TEST_CASE("XLM-RoBERTa and CamemBERT are RoBERTa under other names") {
  const Model roberta = with_settings("roberta-mlm", {});
  for (const auto& names :
       {std::pair("xlm-roberta", "XLMRoberta"), std::pair("camembert", "Camembert")}) {
    const std::string type = names.first;
    const std::string name = names.second;
    CAPTURE(type);
    const Model other = with_settings(
        "roberta-mlm", {{"model_type", type}, {"architectures", {name + "ForMaskedLM"}}});
    CHECK(other.config.family == type);
    CHECK(other.config.n_ctx == roberta.config.n_ctx);
    CHECK(other.layers.size() == roberta.layers.size());
    CHECK(other.first_position == roberta.first_position);
  }
}

TEST_CASE("sliding_window null: no layer has a window") {
  const auto has_window = [](const LayerWeights& layer) { return layer.mask.has_value(); };
  for (const char* model : {"qwen2-window-upper-layers", "mistral-window", "gemma2-softcap-window",
                            "gemma3-local-global"}) {
    CAPTURE(model);
    CHECK(std::ranges::any_of(with_settings(model, {}).layers, has_window));
    CHECK(std::ranges::none_of(with_settings(model, {{"sliding_window", nullptr}}).layers,
                               has_window));
  }
}

TEST_CASE("max_window_layers null is no layer to begin with, unless none is needed") {
  const std::string model = "qwen2-window-upper-layers";
  CHECK_THROWS_WITH_AS(with_settings(model, {{"max_window_layers", nullptr}}),
                       doctest::Contains("max_window_layers: expected a whole number"), Error);
  CHECK_NOTHROW(
      with_settings(model, {{"max_window_layers", nullptr}, {"use_sliding_window", false}}));
  CHECK_NOTHROW(with_settings(
      model, {{"max_window_layers", nullptr}, {"layer_types", json(3, "sliding_attention")}}));
}

TEST_CASE("num_key_value_heads null: each head has keys of its own") {
  // The file has 2, and Mistral's default is 8.
  CHECK_THROWS_WITH_AS(with_settings("mistral-window", {{"num_key_value_heads", nullptr}}),
                       doctest::Contains("k_proj.weight: expected [24,"), Error);
}

TEST_CASE("Gemma 3: each kind of layer is scaled as rope_parameters say of it") {
  const std::string sliding = "rope_parameters/sliding_attention";
  const Model plain = with_settings("gemma3-rope-parameters", {});
  const Model scaled = with_settings(
      "gemma3-rope-parameters", {{sliding + "/rope_type", "linear"}, {sliding + "/factor", 4}});
  REQUIRE(plain.layers.front().mask);  // layer 0 slides
  const auto& before = rope_of(plain, 0).inverse_frequencies;
  const auto& after = rope_of(scaled, 0).inverse_frequencies;
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i] == before[i] / 4);
  }
  REQUIRE_FALSE(plain.layers[1].mask);
  CHECK(rope_of(plain, 1).inverse_frequencies == rope_of(scaled, 1).inverse_frequencies);
}

// transformers: padding_idx + cumsum(is no padding), and padding_idx for padding.
TEST_CASE("RoBERTa: padding takes no position") {
  Model model = with_settings("roberta-mlm", {});
  model.embedding_norm = {};
  const std::vector<std::uint32_t> ids = {1, 5, 1, 1, 6};
  const std::size_t rows[] = {1, 2, 1, 1, 3};
  ModelInput input;
  input.ids = ids;
  const MatrixBuffer stream = embed(model, input);
  std::vector<float> token(model.config.d_model);
  std::vector<float> position(token.size());
  std::vector<float> segment(token.size());
  copy_row(model.segment_embeddings, 0, segment);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    copy_row(model.embeddings, ids[i], token);
    copy_row(model.position_embeddings, rows[i], position);
    for (std::size_t d = 0; d < token.size(); ++d) {
      CHECK(stream.view()(i, d) == token[d] + position[d] + segment[d]);
    }
  }
}

}  // namespace attnviz
