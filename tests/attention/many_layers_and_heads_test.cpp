// Models with many layers or heads that share one set of weights, as even small files can hold.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "support/model_builder.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

using test::ModelBuilder;
using test::OutputForm;

// Of width 1.
Model model_of(std::size_t n_layers, std::size_t n_heads) {
  ModelBuilder builder(1, 1);
  builder.add_layer({{1, 1}}, OutputForm::kPerHead);
  LayerWeights& layer = builder.model.layers.front();
  layer.heads.resize(n_heads, layer.heads.front());
  builder.model.layers.resize(n_layers, layer);
  builder.model.config.residual = false;
  return builder.model;
}

}  // namespace

TEST_CASE("engine: the cost of a layer does not grow with the number of layers") {
  const Model model = model_of(100'000, 1);
  test::check_in_time([&] { CHECK(test::output_of(model, test::Pieces(1)).rows() == 1); });
}

TEST_CASE("interventions: the cost of a removed head does not grow with the number of heads") {
  constexpr std::size_t kHeads = 200'000;
  const Model model = model_of(1, kHeads);
  Interventions changes;
  for (std::size_t head = 0; head < kHeads; ++head) {
    changes.ablations.push_back({0, head, false, head % 2 == 0});
  }
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(std::move(changes));
  test::check_in_time([&] { CHECK(test::output_of(model, test::Pieces(1), request).rows() == 1); });
}

TEST_CASE("interventions: the cost of a layer does not grow with the removals in others") {
  constexpr std::size_t kLayers = 50'000;
  const Model model = model_of(kLayers, 1);
  Interventions changes;
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    changes.ablations.push_back({layer, {}, false, true});
  }
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(std::move(changes));
  test::check_in_time([&] { CHECK(test::output_of(model, test::Pieces(1), request).rows() == 1); });
}

}  // namespace attnviz
