#include "attnviz/attention/layer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "attnviz/kernels/products.h"
#include "attnviz/kernels/simd.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"

namespace attnviz {
namespace {

using test::ModelBuilder;
using test::OutputForm;

void check_against_naive(const Model& model) {
  const test::Result actual = test::run(model);
  const test::NaiveResult expected = test::naive_run(model);
  for (const HeadId head : actual.patterns.heads()) {
    CAPTURE(head.layer);
    CAPTURE(head.head);
    CHECK(test::largest_difference(actual.patterns.pattern(head),
                                   expected.patterns[head.layer][head.head]) < 5e-6);
  }
  CHECK(test::largest_difference(actual.out(), expected.output) < 1e-5);
}

}  // namespace

TEST_CASE("layers: with W_O per head, per layer and absent, with and without residual") {
  for (const OutputForm form : {OutputForm::kPerHead, OutputForm::kPerLayer}) {
    for (const bool residual : {true, false}) {
      CAPTURE(residual);
      ModelBuilder builder(50, 10);
      builder.add_layer({{5, 5}, {5, 5}}, form);
      builder.add_layer({{3, 7}, {8, 1}, {1, 4}}, form);
      builder.model.config.residual = residual;
      check_against_naive(builder.model);
      builder.add_layer({{4, 6}, {2, 3}});  // the last layer: concatenated contexts
      check_against_naive(builder.model);
      CHECK(test::run(builder.model).out().cols == 9);
    }
  }
}

TEST_CASE("layers: concatenated contexts take no residual") {
  ModelBuilder builder(4, 2);
  builder.add_layer({{2, 2}});
  builder.model.config.residual = true;
  const test::Result with = test::run(builder.model);
  builder.model.config.residual = false;
  CHECK(test::same_bits(with.out(), test::run(builder.model).out()));
}

TEST_CASE("layers: W_O per head and the same W_O per layer are bit-identical") {
  ModelBuilder builder(60, 7);
  builder.add_layer({{4, 3}, {4, 8}, {2, 1}}, OutputForm::kPerHead);
  Model per_layer = builder.model;
  std::vector<float> stacked;
  for (HeadWeights& head : per_layer.layers[0].heads) {
    for (std::size_t row = 0; row < head.output.rows; ++row) {
      const auto values = head.output.as_floats().row(row);
      stacked.insert(stacked.end(), values.begin(), values.end());
    }
    head.output = {};
  }
  per_layer.layers[0].output.weight = builder.keep(stacked, 12, 7);
  CHECK(test::same_bits(test::run(per_layer).out(), test::run(builder.model).out()));
}

TEST_CASE(
    "layers: one head at a time and one fused projection split into heads are bit-identical") {
  constexpr std::size_t kTokens = 33;
  constexpr std::size_t kModel = 12;
  constexpr std::size_t kHeads = 3;
  constexpr std::size_t kHead = kModel / kHeads;
  ModelBuilder builder(kTokens, kModel);
  const ConstMatrix fused = builder.random(kModel, 3 * kModel, 0.7f);
  const ConstMatrix fused_bias = builder.random(1, 3 * kModel);
  LayerWeights layer;
  for (std::size_t h = 0; h < kHeads; ++h) {
    const auto part = [&](std::size_t which) {
      const std::size_t first = which * kModel + h * kHead;
      return Projection{fused.col_block(first, kHead), fused_bias.col_block(first, kHead).row(0)};
    };
    layer.heads.push_back({part(0), part(1), part(2), {}});
  }
  builder.model.layers.push_back(layer);

  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    CAPTURE(target);
    const test::Result by_head = test::run(builder.model);

    // The fused form: one product, whose columns are then split among heads.
    MatrixBuffer qkv(kTokens, 3 * kModel);
    kernels::matmul(builder.model.inputs, fused, fused_bias.row(0), qkv.view());
    ModelBuilder split(1, 3 * kModel);
    split.model.inputs = qkv.view();
    LayerWeights picks;
    for (std::size_t h = 0; h < kHeads; ++h) {
      const auto pick = [&](std::size_t which) {
        std::vector<float> selector(3 * kModel * kHead, 0.0f);
        for (std::size_t i = 0; i < kHead; ++i) {
          selector[(which * kModel + h * kHead + i) * kHead + i] = 1.0f;
        }
        return Projection{split.keep(selector, 3 * kModel, kHead), {}};
      };
      picks.heads.push_back({pick(0), pick(1), pick(2), {}});
    }
    split.model.layers.push_back(picks);
    const test::Result from_fused = test::run(split.model);

    for (std::size_t h = 0; h < kHeads; ++h) {
      CHECK(test::same_bits(by_head.pattern(0, h), from_fused.pattern(0, h)));
    }
    CHECK(test::same_bits(by_head.out(), from_fused.out()));
  }
}

TEST_CASE("layers: heads that share keys and values compute the same with them") {
  ModelBuilder builder(20, 6);
  builder.add_layer({{4, 4}, {4, 4}});
  auto& heads = builder.model.layers[0].heads;
  heads[1].key = heads[0].key;
  heads[1].value = heads[0].value;
  check_against_naive(builder.model);
  heads[1].query = heads[0].query;
  const test::Result same = test::run(builder.model);
  CHECK(test::same_bits(same.pattern(0, 0), same.pattern(0, 1)));
}

}  // namespace attnviz
