// Published numbers: PyTorch's multi-head attention and worked examples from textbooks.

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/model_builder.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Json = nlohmann::json;
using test::ModelBuilder;
using test::read_json;

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

test::Result run_masked(const Model& model, const std::string& mask) {
  AttentionRequest request;
  request.mask = parse_mask(mask);
  return test::run(model, request);
}

}  // namespace

TEST_CASE("PyTorch's MultiheadAttention with biases and output projection is reproduced") {
  const std::filesystem::path folder = ATTNVIZ_SOURCE_DIR "/tests/reference";
  const Json expected = read_json(folder / "torch_mha_expected.json");
  const Model model = load_weights_json(folder / "torch_mha.json");
  for (const std::string mask : {"none", "causal"}) {
    CAPTURE(mask);
    const test::Result actual = run_masked(model, mask);
    const Json& answer = expected[mask];
    REQUIRE(answer["attention"].size() == model.n_heads());
    for (std::size_t head = 0; head < model.n_heads(); ++head) {
      CHECK(test::largest_difference(actual.pattern(0, head),
                                     flat<double>(answer["attention"][head])) < 1e-6);
    }
    CHECK(test::largest_difference(actual.out(), flat<double>(answer["output"])) < 2e-6);
  }
}

TEST_CASE("textbook examples are reproduced to six digits") {
  const Json textbook = read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/textbook.json");
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
