#include "attnviz/model/random_model.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "support/json.h"
#include "support/naive.h"

namespace attnviz {
namespace {

void check_bits(ConstMatrix matrix, const nlohmann::json& expected) {
  REQUIRE(expected.size() == matrix.rows * matrix.cols);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float value = matrix(i / matrix.cols, i % matrix.cols);
    CHECK(std::bit_cast<std::uint32_t>(value) == expected[i].get<std::uint32_t>());
  }
}

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

Moments moments(const std::vector<double>& values) {
  Moments result;
  for (const double value : values) {
    result.mean += value / static_cast<double>(values.size());
  }
  for (const double value : values) {
    const double offset = value - result.mean;
    result.variance += offset * offset / static_cast<double>(values.size());
  }
  return result;
}

// x [n, d_model]: one random embedding per row.
MatrixBuffer random_tokens(std::size_t n, std::size_t d_model) {
  MatrixBuffer x(n, d_model);
  for (std::size_t i = 0; i < n; ++i) {
    random_embedding(/*seed=*/7, std::to_string(i), x.view().row(i));
  }
  return x;
}

std::string message_of(const RandomShape& shape) {
  try {
    random_model(shape, 1);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("random_model: bit-identical to the weights of an independent program") {
  const auto reference = test::read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/random_model.json");
  const auto& shape = reference["shape"];
  for (const auto& expected : reference["models"]) {
    const auto seed = expected["seed"].get<std::uint64_t>();
    CAPTURE(seed);
    const Model model = random_model({.n_layers = shape["n_layers"],
                                      .n_heads = shape["n_heads"],
                                      .n_kv_heads = shape["n_kv_heads"],
                                      .d_model = shape["d_model"],
                                      .d_head = shape["d_head"],
                                      .d_value = shape["d_value"]},
                                     seed);
    REQUIRE(model.layers.size() == expected["layers"].size());
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const auto& layer = expected["layers"][i];
      REQUIRE(model.layers[i].heads.size() == layer["heads"].size());
      for (std::size_t h = 0; h < model.layers[i].heads.size(); ++h) {
        check_bits(model.layers[i].heads[h].query.weight.as_floats(), layer["heads"][h]["W_Q"]);
        check_bits(model.layers[i].heads[h].key.weight.as_floats(), layer["heads"][h]["W_K"]);
        check_bits(model.layers[i].heads[h].value.weight.as_floats(), layer["heads"][h]["W_V"]);
      }
      check_bits(model.layers[i].output.weight.as_floats(), layer["W_O"]);
    }
    for (const auto& [piece, bits] : expected["embeddings"].items()) {
      MatrixBuffer vector(1, bits.size());
      random_embedding(seed, piece, vector.view().row(0));
      check_bits(vector.view(), bits);
    }
  }
}

TEST_CASE("random_model: scores of random embeddings have about unit variance in every head") {
  constexpr std::size_t kTokens = 120;
  for (const RandomShape& shape :
       {RandomShape{.n_heads = 4}, RandomShape{.n_heads = 12, .d_model = 768},
        RandomShape{.n_heads = 4, .n_kv_heads = 2, .d_model = 96, .d_head = 64}}) {
    const Model model = random_model(shape, 3);
    const MatrixBuffer x = random_tokens(kTokens, model.config.d_model);
    std::vector<double> variances;
    for (const HeadWeights& head : model.layers.front().heads) {
      const auto q = test::naive_matmul(x.view(), head.query.weight.as_floats());
      const auto k = test::naive_matmul(x.view(), head.key.weight.as_floats());
      std::vector<double> scores;
      for (std::size_t i = 0; i < kTokens; ++i) {
        for (std::size_t j = 0; j < kTokens; ++j) {
          double dot = 0.0;
          for (std::size_t d = 0; d < head.d_head(); ++d) {
            dot += q[i * head.d_head() + d] * k[j * head.d_head() + d];
          }
          scores.push_back(dot / std::sqrt(static_cast<double>(head.d_head())));
        }
      }
      const Moments head_moments = moments(scores);
      CHECK(std::abs(head_moments.mean) < 0.2);
      CHECK(head_moments.variance > 0.5);
      CHECK(head_moments.variance < 2.0);
      variances.push_back(head_moments.variance);
    }
    CHECK(moments(variances).mean == doctest::Approx(1.0).epsilon(0.25));
  }
}

TEST_CASE("random_embedding: components have zero mean and unit variance and lie within sqrt(3)") {
  const MatrixBuffer x = random_tokens(400, 100);
  std::vector<double> values;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (const float value : x.view().row(i)) {
      CHECK_MESSAGE(std::abs(value) <= 1.7320509f, value);
      values.push_back(value);
    }
  }
  const Moments all = moments(values);
  CHECK(std::abs(all.mean) < 0.02);  // four standard errors of 40,000 values
  CHECK(all.variance == doctest::Approx(1.0).epsilon(0.02));
}

TEST_CASE("random_embedding: depends only on seed and piece") {
  std::vector<float> a(8), b(8);
  random_embedding(1, "cat", a);
  random_embedding(1, "cat", b);
  CHECK(a == b);
  random_embedding(2, "cat", b);
  CHECK(a != b);
  random_embedding(1, "cats", b);
  CHECK(a != b);
}

TEST_CASE("random_model: no two matrices of a model share values") {
  const Model model = random_model({.n_layers = 3, .n_heads = 4, .d_head = 8}, 5);
  std::set<float> firsts;
  std::size_t n_matrices = 0;
  for (const LayerWeights& layer : model.layers) {
    for (const HeadWeights& head : layer.heads) {
      for (const ConstMatrix weight : {head.query.weight.as_floats(), head.key.weight.as_floats(),
                                       head.value.weight.as_floats()}) {
        firsts.insert(weight(0, 0));
        ++n_matrices;
      }
    }
    firsts.insert(layer.output.weight.as_floats()(0, 0));
    ++n_matrices;
  }
  CHECK(firsts.size() == n_matrices);
}

TEST_CASE("random_model: heads of a group share keys and values, not queries") {
  const Model model = random_model({.n_heads = 6, .n_kv_heads = 2, .d_head = 4}, 5);
  const auto& heads = model.layers.front().heads;
  CHECK(heads[0].key.weight.data == heads[2].key.weight.data);
  CHECK(heads[0].value.weight.data == heads[2].value.weight.data);
  CHECK(heads[2].key.weight.data != heads[3].key.weight.data);
  CHECK(heads[3].key.weight.data == heads[5].key.weight.data);
  CHECK(heads[0].query.weight.data != heads[1].query.weight.data);
}

TEST_CASE("random_model: missing sizes follow from the others") {
  const Model standard = random_model({}, 0);
  CHECK(standard.n_layers() == 1);
  CHECK(standard.n_heads() == 4);
  CHECK(standard.config.d_model == 64);
  CHECK(standard.config.random_weights);
  CHECK(standard.config.name == "random");

  const Model wide = random_model({.n_heads = 12, .d_model = 768}, 9, Positions::kRope);
  CHECK(wide.layers[0].heads[0].d_head() == 64);
  CHECK(wide.layers[0].heads[0].d_value() == 64);
  CHECK(wide.layers[0].output.weight.rows == 768);
  CHECK(wide.config.positions == Positions::kRope);
  CHECK(wide.config.seed == 9);

  const Model odd = random_model({.n_heads = 3, .d_model = 10, .d_head = 7, .d_value = 2}, 0);
  CHECK(odd.layers[0].heads[2].query.weight.rows == 10);
  CHECK(odd.layers[0].heads[2].d_head() == 7);
  CHECK(odd.layers[0].output.weight.rows == 6);
  CHECK(odd.layers[0].output.weight.cols == 10);
}

TEST_CASE("random_model: an impossible shape is refused with the option's name") {
  CHECK(message_of({.n_layers = 0}) == "n_layers 0: expected at least 1");
  CHECK(message_of({.n_heads = 0}) == "n_heads 0: expected at least 1");
  CHECK(message_of({.n_heads = 4, .n_kv_heads = 3}) ==
        "n_kv_heads 3: expected a number that divides n_heads 4");
  CHECK(message_of({.n_heads = 4, .n_kv_heads = 8}) ==
        "n_kv_heads 8: expected a number that divides n_heads 4");
  CHECK(message_of({.n_heads = 4, .d_model = 10}) ==
        "d_model 10: expected a multiple of n_heads 4, or d_head beside it");
  CHECK(message_of({.n_heads = 4, .d_model = 3}).starts_with("d_model 3: expected a multiple"));
  CHECK(message_of({.n_heads = 1, .d_model = SIZE_MAX / 2, .d_head = 16}) ==
        "random weights: the size is too large to count");
  CHECK(message_of({.n_heads = SIZE_MAX / 2}) ==
        "n_heads times d_head: the size is too large to count");
}

}  // namespace attnviz
