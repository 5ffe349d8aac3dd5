// Numbers from elsewhere: PyTorch's multi-head attention and worked examples of textbooks.

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model_builder.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Json = nlohmann::json;
using test::ModelBuilder;

Json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  return Json::parse(file);
}

template <class T>
std::vector<T> flat(const Json& rows) {
  std::vector<T> values;
  for (const Json& row : rows) {
    for (const Json& value : row) {
      values.push_back(value.get<T>());
    }
  }
  return values;
}

ConstMatrix matrix(ModelBuilder& builder, const Json& rows) {
  return builder.keep(flat<float>(rows), rows.size(), rows[0].size());
}

// PyTorch multiplies W·x.
ConstMatrix transposed(ModelBuilder& builder, const Json& rows) {
  const ConstMatrix m = matrix(builder, rows);
  std::vector<float> values;
  for (std::size_t col = 0; col < m.cols; ++col) {
    for (std::size_t row = 0; row < m.rows; ++row) {
      values.push_back(m(row, col));
    }
  }
  return builder.keep(values, m.cols, m.rows);
}

test::Result run_masked(const Model& model, const std::string& mask) {
  AttentionRequest request;
  request.mask = parse_mask(mask);
  return test::run(model, request);
}

}  // namespace

TEST_CASE("PyTorch's MultiheadAttention with biases and output projection comes out") {
  const std::filesystem::path folder = ATTNVIZ_SOURCE_DIR "/tests/reference";
  const Json weights = read_json(folder / "torch_mha.json");
  const Json expected = read_json(folder / "torch_mha_expected.json");
  REQUIRE(weights["convention"] == "column");

  ModelBuilder builder(1, weights["d_model"].get<std::size_t>());
  builder.model.inputs = matrix(builder, weights["inputs"]);
  builder.model.config.residual = weights["residual"].get<bool>();
  const Json& layer = weights["layers"][0];
  LayerWeights loaded;
  for (const Json& head : layer["heads"]) {
    const auto projection = [&](const char* w, const char* b) {
      return Projection{transposed(builder, head[w]),
                        builder.keep(head[b].get<std::vector<float>>())};
    };
    loaded.heads.push_back(
        {projection("W_Q", "b_Q"), projection("W_K", "b_K"), projection("W_V", "b_V"), {}});
  }
  loaded.output = {transposed(builder, layer["W_O"]),
                   builder.keep(layer["b_O"].get<std::vector<float>>())};
  builder.model.layers.push_back(loaded);

  for (const std::string mask : {"none", "causal"}) {
    CAPTURE(mask);
    const test::Result actual = run_masked(builder.model, mask);
    const Json& answer = expected[mask];
    REQUIRE(answer["attention"].size() == loaded.heads.size());
    for (std::size_t head = 0; head < loaded.heads.size(); ++head) {
      CHECK(test::largest_difference(actual.pattern(0, head),
                                     flat<double>(answer["attention"][head])) < 1e-6);
    }
    CHECK(test::largest_difference(actual.out(), flat<double>(answer["output"])) < 2e-6);
  }
}

TEST_CASE("textbook examples come out to six digits") {
  const std::filesystem::path path = ATTNVIZ_SOURCE_DIR "/../shared/reference/textbook.json";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: the worked examples are not there: " << path.string());
    return;
  }
  const Json textbook = read_json(path);
  for (const std::string name : {"book_d3", "numpy42_n3"}) {
    CAPTURE(name);
    const Json& example = textbook[name];
    const Json& inputs = example.contains("X") ? example["X"] : example["x"];
    ModelBuilder builder(1, inputs[0].size());
    builder.model.inputs = matrix(builder, inputs);
    builder.model.layers.push_back({{{{matrix(builder, example["W_q"]), {}},
                                      {matrix(builder, example["W_k"]), {}},
                                      {matrix(builder, example["W_v"]), {}},
                                      {}}},
                                    {}});
    const Json& answer = example["f64"];
    const test::Result whole = run_masked(builder.model, "none");
    CHECK(test::largest_difference(whole.pattern(0, 0), flat<double>(answer["attn"])) < 1e-6);
    CHECK(test::largest_difference(whole.out(), flat<double>(answer["context"])) < 1e-6);
    const test::Result causal = run_masked(builder.model, "causal");
    CHECK(test::largest_difference(causal.pattern(0, 0), flat<double>(answer["attn_causal"])) <
          1e-6);
    CHECK(test::largest_difference(causal.out(), flat<double>(answer["context_causal"])) < 1e-6);
  }
}

}  // namespace attnviz
