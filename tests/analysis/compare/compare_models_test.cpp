#include "attnviz/analysis/compare/compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"

namespace attnviz {
namespace {

const std::filesystem::path kShared = ATTNVIZ_SOURCE_DIR "/../shared/reference";
const std::vector<std::uint32_t> kIds = {1, 274, 287, 394, 261, 370, 400, 428};

struct Runs {
  std::vector<Departure> departures;
  std::vector<double> kl_bits;
};

Runs runs_of(const Model& a, const Model& b, const std::vector<std::uint32_t>& ids) {
  ModelInput input;
  input.ids = ids;
  StreamStore first;
  run(a, input, {}, first);
  StreamComparison second(first);
  run(b, input, {}, second);
  return {second.departures(),
          prediction_kl_bits(a, std::as_const(first.streams().back()).view(), b, second.last(), 1)};
}

}  // namespace

TEST_CASE("streams and predictions: a model compared with itself is exactly the same") {
  const Model demo = demo_model();
  const Runs runs = runs_of(demo, demo, {0, 5, 17, 3});
  REQUIRE(runs.departures.size() == demo.n_layers() + 1);
  CHECK(!runs.departures.front().layer);
  for (const Departure& departure : runs.departures) {
    CHECK(departure.largest == 0.0);
    CHECK(departure.mean == 0.0);
  }
  CHECK(runs.kl_bits == std::vector<double>(4, 0.0));
}

TEST_CASE("predictions: KL in bits agrees with plain loops over the vocabulary") {
  const Model demo = demo_model();
  Model other = demo;
  other.embedding_scale = 0.7f;
  const std::vector<std::uint32_t> ids = {0, 5, 17, 3};
  ModelInput input;
  input.ids = ids;
  const Runs runs = runs_of(demo, other, ids);
  CHECK(runs.departures.front().largest == doctest::Approx(0.3).epsilon(1e-5));
  const MatrixBuffer of_a = test::output_of(demo, input);
  const MatrixBuffer of_b = test::output_of(other, input);
  const MatrixBuffer a = run_output_head(demo, of_a.view(), 1);
  const MatrixBuffer b = run_output_head(other, of_b.view(), 1);
  for (std::size_t token = 0; token < ids.size(); ++token) {
    double sum_a = 0.0;
    double sum_b = 0.0;
    for (std::size_t id = 0; id < a.cols(); ++id) {
      sum_a += std::exp(static_cast<double>(a.view()(token, id)));
      sum_b += std::exp(static_cast<double>(b.view()(token, id)));
    }
    double bits = 0.0;
    for (std::size_t id = 0; id < a.cols(); ++id) {
      const double p = std::exp(static_cast<double>(a.view()(token, id))) / sum_a;
      const double q = std::exp(static_cast<double>(b.view()(token, id))) / sum_b;
      bits += p * std::log2(p / q);
    }
    CHECK(runs.kl_bits[token] == doctest::Approx(bits).epsilon(1e-6));
  }
}

TEST_CASE("two files of one model: their streams agree up to rounding") {
  if (!std::filesystem::exists(kShared / "gguf" / "models")) {
    MESSAGE("SKIPPED: no ../shared/reference/gguf");
    return;
  }
  const Model base = load_hugging_face(kShared / "models" / "stories260k");
  const Model same = load_gguf(kShared / "gguf/models/stories260k-f32.gguf");
  const Runs runs = runs_of(base, same, kIds);
  for (const Departure& departure : runs.departures) {
    CHECK(departure.largest < 1e-5);
  }
}

TEST_CASE("different_settings: none between a model and itself; each change is named once") {
  const Model demo = demo_model();
  CHECK(different_settings(demo, demo).empty());
  Model other = demo;
  other.embedding_scale = 2.0f;
  for (LayerWeights& layer : other.layers) {
    const auto rope = std::make_shared<Rope>(*layer.rope);
    rope->inverse_frequencies[1] *= 2.0;
    layer.rope = rope;
    layer.mlp_norm.epsilon *= 10.0;
    layer.mlp.limit = 3.0f;
  }
  CHECK(different_settings(demo, other) ==
        std::vector<std::string>{"scale of embeddings", "rotary frequencies", "activation of MLPs",
                                 "norms' kind or epsilon"});
}

TEST_CASE("require_same_heads: different numbers of layers or heads are refused") {
  const Model model = random_model({.n_layers = 2, .n_heads = 2}, 1);
  CHECK_THROWS_WITH_AS(require_same_heads(model, random_model({.n_layers = 3, .n_heads = 2}, 1)),
                       doctest::Contains("2 layers and 3"), Error);
  CHECK_THROWS_WITH_AS(require_same_heads(model, random_model({.n_layers = 2, .n_heads = 4}, 1)),
                       doctest::Contains("layer 0 has 2 heads and 4"), Error);
}

}  // namespace attnviz
