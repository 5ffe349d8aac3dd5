// Copying scores against independent float64 ones: tests/reference/heads/make_copying.py.
#include "attnviz/analysis/heads/score_run.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/model_builder.h"
#include "support/naive.h"

namespace attnviz {
namespace {

const std::filesystem::path kReference = ATTNVIZ_SOURCE_DIR "/tests/reference";

Model model_named(const std::string& name) {
  return name == "demo" ? demo_model() : load_hugging_face(kReference / "models" / name);
}

// One head of width 2 that passes on its value, with as many tokens as dimensions, and W_U = W_E.
// `value` is W_V W_O; everything else is the identity.
test::ModelBuilder copier(std::vector<float> value) {
  test::ModelBuilder builder(2, 2);
  builder.model.config.order = LayerOrder::kPreNorm;
  builder.model.config.kind = ModelKind::kTransformer;
  const ConstMatrix one = builder.keep({1, 0, 0, 1}, 2, 2);
  LayerWeights layer;
  layer.heads.push_back(
      {{one, {}}, {one, {}}, {builder.keep(std::move(value), 2, 2), {}}, StoredMatrix(one)});
  builder.model.layers = {layer};
  builder.model.embeddings = one;
  builder.model.head.unembedding.weight = one;
  return builder;
}

}  // namespace

TEST_CASE("copying: agrees with numpy in float64, for every family's norms") {
  const nlohmann::json expected = test::read_json(kReference / "heads/copying.json");
  REQUIRE(expected.size() == 6);
  for (const auto& item : expected.items()) {
    const std::string& name = item.key();
    const nlohmann::json& layers = item.value();
    CAPTURE(name);
    const Model model = model_named(name);
    const std::vector<HeadId> heads = select_heads(model, "", "");
    for (const std::size_t n_threads : {1U, 2U}) {
      const auto found = copying_scores(model, heads, n_threads);
      REQUIRE(found.size() == heads.size());
      for (std::size_t i = 0; i < heads.size(); ++i) {
        CAPTURE(heads[i].layer);
        CAPTURE(heads[i].head);
        REQUIRE(found[i]);
        CHECK(std::abs(*found[i] - layers[heads[i].layer][heads[i].head].get<double>()) <= 1e-5);
      }
    }
  }
}

TEST_CASE(
    "copying: 1 for a head that passes on what it sees, -1 for its opposite, 0 for a rotation") {
  const auto score = [](std::vector<float> value) {
    return copying_scores(copier(std::move(value)).model, {{0, 0}}, 1).front();
  };
  CHECK(score({1, 0, 0, 1}) == 1.0);
  CHECK(score({-3, 0, 0, -3}) == -1.0);
  CHECK(*score({0, 1, -1, 0}) == doctest::Approx(0.0));
  CHECK(*score({3, 0, 0, -1}) == doctest::Approx(0.5));
  CHECK_FALSE(score({0, 0, 0, 0}));
}

TEST_CASE(
    "copying: quantised embeddings shared with the unembedding count as the numbers they stand "
    "for") {
  Model model = demo_model();
  const std::size_t d_model = model.config.d_model;
  constexpr std::size_t kVocabulary = 1100, kBlock = 32;
  const std::vector<float> numbers = test::random_values(kVocabulary * d_model, /*seed=*/1);
  std::string blocks;  // Q8_0: a scale of 1/128 as F16, then 32 signed bytes
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % kBlock == 0) {
      blocks += std::string("\x00\x20", 2);
    }
    blocks += static_cast<char>(static_cast<std::int8_t>(std::lround(numbers[i] * 127.0f)));
  }
  model.embeddings = {blocks.data(), kVocabulary, d_model, d_model, StoredType::kQ8_0};
  model.head.unembedding.weight = {blocks.data(), d_model,           kVocabulary,
                                   d_model,       StoredType::kQ8_0, /*is_transposed=*/true};
  const auto found = copying_scores(model, {{2, 1}, {3, 3}}, 2);
  const MatrixBuffer embeddings = to_floats(model.embeddings);
  const MatrixBuffer unembedding = to_floats(model.head.unembedding.weight);
  CHECK(embeddings.view()(7, 3) == std::round(numbers[7 * d_model + 3] * 127.0f) / 128.0f);
  model.embeddings = embeddings.view();
  model.head.unembedding.weight = unembedding.view();
  CHECK(found == copying_scores(model, {{2, 1}, {3, 3}}, 1));
}

TEST_CASE("copying: numbers that are not finite give no score, and the head is named") {
  test::ModelBuilder builder = copier({std::numeric_limits<float>::infinity(), 0, 0, 1});
  CHECK_THROWS_WITH_AS(copying_scores(builder.model, {{0, 0}}, 1),
                       doctest::Contains("head 0.0: a number of W_O W_U W_E W_V is not finite"),
                       Error);
}

TEST_CASE("copying: a model without an unembedding, or with layers after it, has no score") {
  CHECK(copying_scores(random_model({}, 1), {{0, 0}}, 1).empty());
  CHECK(copying_scores(load_hugging_face(kReference / "models/bert-pair"), {{0, 0}}, 1).empty());
  CHECK(copying_scores(load_hugging_face(kReference / "models/roberta-mlm"), {{0, 0}}, 1).empty());
}

TEST_CASE("copying: values of another layer are read after that layer's norm") {
  test::ModelBuilder builder = copier({1, 0, 0, 1});
  std::vector<LayerWeights>& layers = builder.model.layers;
  layers.front().attention_norm.kind = NormKind::kRms;
  layers.push_back(layers.front());
  layers[1].keys_from = 0;
  layers[0].attention_norm.weight = builder.keep({2, 2});
  layers[1].attention_norm.weight = builder.keep({1, -1});  // alone: a trace of 0
  CHECK(copying_scores(builder.model, {{1, 0}}, 1).front() == 1.0);
  layers[1].keys_from.reset();
  CHECK(copying_scores(builder.model, {{1, 0}}, 1).front() == 0.0);
}

}  // namespace attnviz
