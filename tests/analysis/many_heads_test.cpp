// Many layers or heads that share one set of weights, as even small files can hold.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "support/model_builder.h"
#include "support/stopwatch.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

using test::ModelBuilder;
using test::OutputForm;

// Two tokens of width 1.
Model model_of(std::size_t n_layers, std::size_t n_heads) {
  ModelBuilder builder(2, 1);
  const std::vector<float> ones(n_heads, 1.0f);
  builder.add_layer({{1, 1}}, OutputForm::kPerLayer);
  LayerWeights& layer = builder.model.layers.front();
  layer.heads.resize(n_heads, layer.heads.front());
  layer.output.weight = builder.keep(ones, n_heads, 1);
  builder.model.layers.resize(n_layers, layer);
  builder.model.config.residual = false;
  return builder.model;
}

// Of one token.
Model with_vocabulary(Model model) {
  const StoredMatrix one = model.layers.front().output.weight.row_block(0, 1);
  model.config.order = LayerOrder::kPreNorm;
  model.embeddings = one;
  model.head.unembedding.weight = one;
  return model;
}

}  // namespace

TEST_CASE("rollout: the cost of a head does not grow with the number of heads") {
  const Model model = model_of(1, 200'000);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    test::check_in_time([&] {
      Rollout rollout(model, heads, 2, {}, {.weighted = weighted});
      RunObserver weights(static_cast<PatternSink&>(rollout));
      ObserverGroup both({&weights, &rollout});
      run(model, test::Pieces(2), {}, both);
      CHECK(rollout.take().view()(0, 0) == 1.0f);
    });
  }
}

TEST_CASE("copying: the cost of a head does not grow with the number of heads") {
  const Model model = with_vocabulary(model_of(1, 150'000));
  test::check_in_time(
      [&] { CHECK(copying_scores(model, select_heads(model, "", ""), 1).size() == 150'000); });
}

TEST_CASE("inspection: the cost of a head does not grow with the number of heads") {
  const Model model = model_of(1, 60'000);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  test::check_in_time([&] {
    CHECK(inspect_heads(model, test::Pieces(2), {}, heads, 1, false).back().n_kv_heads == 1);
  });
}

TEST_CASE("inspection: the cost of a layer does not grow with the number of layers") {
  const Model model = model_of(40'000, 1);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  test::check_in_time([&] {
    CHECK(inspect_heads(model, test::Pieces(2), {}, heads, 1, false).size() == heads.size());
  });
}

TEST_CASE(
    "ablate_each: the cost of a head that is already removed does not grow with their number") {
  constexpr std::size_t kHeads = 200'000;
  Model model = with_vocabulary(model_of(1, kHeads));
  model.config.kind = ModelKind::kTransformer;
  Interventions given;
  for (std::size_t head = 0; head < kHeads; ++head) {
    given.ablations.push_back({0, head, false, false});
  }
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(std::move(given));
  test::check_in_time([&] {
    const std::vector<AblatedPart> layers = {AblatedPart::kLayers};
    const auto effects = ablate_each(model, test::text_of({0, 0}), request, 0, layers, true);
    CHECK(effects.front().change.kl_bits == 0.0);
  });
}

TEST_CASE("cite: the cost of a head does not grow with the number of chosen heads") {
  Model model = with_vocabulary(model_of(1, 250'000));
  model.config.kind = ModelKind::kTransformer;
  const std::vector<HeadId> chosen = select_heads(model, "", "");
  const std::vector<std::uint32_t> ids = {0, 0, 0, 0};
  const std::vector<IndexRange> spans = {{0, 1}};
  test::check_in_time([&] {
    const Citation citation = cite(model, ids, 2, spans, {}, chosen);
    CHECK(citation.spans.front().attention == citation.spans.front().chosen_attention);
  });
}

TEST_CASE("routers: the cost of a layer does not grow with the number of layers") {
  std::vector<std::size_t> layers(200'000);
  std::iota(layers.begin(), layers.end(), std::size_t{0});
  RouterStore store(layers);
  const RoutedTokens one = {.n_experts = 2, .n_used = 1, .experts = {1}, .factors = {1.0f}};
  test::check_in_time([&] {
    for (const std::size_t token : {0U, 1U}) {
      for (const std::size_t layer : layers) {
        store.router({layer, LayerStep::kRouter, token}, one);
      }
    }
    const std::vector<RoutedLayer> all = store.take();
    CHECK(all.size() == layers.size());
    CHECK(all.back().layer == layers.back());
    CHECK(all.back().tokens.experts.size() == 2);
  });
}

}  // namespace attnviz
