#include "attnviz/analysis/compare/compare.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"

namespace attnviz {
namespace {

const std::filesystem::path kReference = ATTNVIZ_SOURCE_DIR "/../shared/reference";

// A copy of a matrix's numbers with one of them changed.
StoredMatrix changed(test::ModelBuilder& owner, const StoredMatrix& matrix, float by) {
  const ConstMatrix floats = matrix.as_floats();
  std::vector<float> numbers;
  for (std::size_t row = 0; row < floats.rows; ++row) {
    numbers.insert(numbers.end(), floats.row(row).begin(), floats.row(row).end());
  }
  numbers[1] += by;
  return owner.keep(std::move(numbers), floats.rows, floats.cols);
}

// The tensors that differ, or that only one model has.
std::vector<TensorDifference> different(const Model& a, const Model& b) {
  std::vector<TensorDifference> found;
  for (TensorDifference& tensor : compare_tensors(a, b, 1)) {
    if (tensor.relative != 0.0) {
      found.push_back(std::move(tensor));
    }
  }
  return found;
}

}  // namespace

TEST_CASE(
    "compare_tensors: a model equals itself; one changed number gives its relative difference") {
  const Model a = random_model({.n_layers = 2, .n_heads = 2}, /*seed=*/3);
  for (const TensorDifference& tensor : compare_tensors(a, a, 3)) {
    CHECK(tensor.relative == 0.0);
  }
  Model b = a;
  test::ModelBuilder owner(1, 1);
  b.layers[1].heads[1].value.weight = changed(owner, a.layers[1].heads[1].value.weight, 0.5f);
  double squares = 0.0;
  for (const HeadWeights& head : a.layers[1].heads) {
    const ConstMatrix values = head.value.weight.as_floats();
    for (std::size_t row = 0; row < values.rows; ++row) {
      for (const float number : values.row(row)) {
        squares += static_cast<double>(number) * static_cast<double>(number);
      }
    }
  }
  std::size_t n_different = 0;
  for (const TensorDifference& tensor : compare_tensors(a, b, 1)) {
    if (tensor.relative != 0.0) {
      ++n_different;
      CHECK(tensor.layer == std::size_t{1});
      CHECK(tensor.name == "W_V");
      CHECK(*tensor.relative == doctest::Approx(0.5 / std::sqrt(squares)).epsilon(1e-6));
    }
  }
  CHECK(n_different == 1);
}

TEST_CASE("compare_tensors: biases, norms and tensors that only one model has") {
  test::ModelBuilder a(2, 4);
  a.add_layer({{2, 2}, {2, 2}}, test::OutputForm::kPerLayer);
  a.model.layers[0].attention_norm.weight = a.keep({1.0f, 2.0f, 2.0f, 4.0f});
  CHECK(different(a.model, a.model).empty());

  Model b = a.model;
  b.layers[0].attention_norm.weight = a.keep({1.0f, 2.0f, 2.0f, 3.0f});
  std::vector<TensorDifference> found = different(a.model, b);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "attention_norm");
  CHECK(*found[0].relative == doctest::Approx(1.0 / 5.0));  // √(1 + 4 + 4 + 16) = 5

  // Stored minus 1, as Gemma does: the same norm.
  b.layers[0].attention_norm.weight = a.keep({0.0f, 1.0f, 1.0f, 3.0f});
  b.layers[0].attention_norm.weight_offset = 1.0f;
  CHECK(different(a.model, b).empty());

  const std::span<const float> bias = a.model.layers[0].heads[1].key.bias;
  REQUIRE(bias.size() == 2);
  b.layers[0].heads[1].key.bias = a.keep({bias[0] + 0.25f, bias[1]});
  double squares = 0.0;
  for (const HeadWeights& head : a.model.layers[0].heads) {
    for (const float number : head.key.bias) {
      squares += static_cast<double>(number) * static_cast<double>(number);
    }
  }
  found = different(a.model, b);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "b_K");
  CHECK(*found[0].relative == doctest::Approx(0.25 / std::sqrt(squares)).epsilon(1e-5));

  Model without = a.model;
  without.layers[0].attention_norm = {};
  found = different(a.model, without);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "attention_norm");
  CHECK(found[0].layer == std::size_t{0});
  CHECK(!found[0].relative);
  CHECK(found[0].only_in == std::size_t{0});
  CHECK(different(without, a.model)[0].only_in == std::size_t{1});
}

TEST_CASE("compare_tensors: W_O of the layer and of each head, and a bias in another order") {
  test::ModelBuilder a(2, 4);
  a.add_layer({{4, 2}, {4, 1}}, test::OutputForm::kPerLayer);
  Model b = a.model;
  const StoredMatrix joint = a.model.layers[0].output.weight;
  b.layers[0].output.weight = {};
  b.layers[0].heads[0].output = joint.row_block(0, 2);
  b.layers[0].heads[1].output = joint.row_block(2, 1);
  CHECK(different(a.model, b).empty());

  // Rotary pairs (i, i + 2) in A stand side by side in B: 0 2 1 3.
  const auto turned = [&](RopePairing pairing) {
    auto rope = std::make_shared<Rope>();
    rope->pairing = pairing;
    rope->inverse_frequencies = {1.0, 0.5};
    return rope;
  };
  Model halves = a.model;
  Model pairs = a.model;
  halves.layers[0].rope = turned(RopePairing::kHalves);
  pairs.layers[0].rope = turned(RopePairing::kNeighbours);
  for (HeadWeights& head : pairs.layers[0].heads) {
    for (Projection* const part : {&head.query, &head.key}) {
      const ConstMatrix weight = part->weight.as_floats();
      std::vector<float> numbers;
      for (std::size_t row = 0; row < weight.rows; ++row) {
        for (const std::size_t column : {0u, 2u, 1u, 3u}) {
          numbers.push_back(weight(row, column));
        }
      }
      part->weight = a.keep(std::move(numbers), weight.rows, weight.cols);
      const std::span<const float> bias = part->bias;
      part->bias = a.keep({bias[0], bias[2], bias[1], bias[3]});
    }
  }
  CHECK(different(halves, pairs).empty());
  CHECK(different(pairs, halves).empty());
}

TEST_CASE("compare_tensors: two files of one model are the same, rounded ones nearly") {
  if (!std::filesystem::exists(kReference / "gguf" / "models")) {
    MESSAGE("SKIPPED: no ../shared/reference/gguf");
    return;
  }
  const Model base = load_hugging_face(kReference / "models" / "stories260k");
  const Model same = load_gguf(kReference / "gguf/models/stories260k-f32.gguf");
  CHECK(compare_tensors(base, same, 2).size() >= 9 * base.n_layers());
  CHECK(different(base, same).empty());
  const Model rounded = load_gguf(kReference / "gguf/models/stories260k-q4_0.gguf");
  for (const TensorDifference& tensor : compare_tensors(base, rounded, 2)) {
    CAPTURE(tensor.name);
    REQUIRE(tensor.relative);
    CHECK(*tensor.relative < 0.15);  // a block's 16 steps reach up to its largest number
  }
}

TEST_CASE("compare_tensors: different numbers of experts are reported") {
  const Model none = random_model({.n_layers = 1, .n_heads = 1}, /*seed=*/3);
  test::ModelBuilder owner(1, 4);
  Mlp expert;
  expert.up = {owner.random(4, 3), {}};
  expert.down = {owner.random(3, 4), {}};
  Model two = none;
  two.layers[0].experts.each = {expert, expert};
  Model three = none;
  three.layers[0].experts.each = {expert, expert, expert};
  const auto names = [](const std::vector<TensorDifference>& found, std::optional<std::size_t> in) {
    std::vector<std::string> all;
    for (const TensorDifference& one : found) {
      CHECK(one.only_in == in);
      CHECK_FALSE(one.relative);
      all.push_back(one.name);
    }
    return all;
  };
  const std::vector<std::string> expected = {"experts_up", "experts_down"};
  CHECK(different(two, two).empty());
  CHECK(names(different(two, three), std::nullopt) == expected);
  CHECK(names(different(three, two), std::nullopt) == expected);
  CHECK(names(different(two, none), 0) == expected);
  CHECK(names(different(none, two), 1) == expected);
}

}  // namespace attnviz
