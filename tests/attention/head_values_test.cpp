// The values that a run reports: what a head's weights average.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "support/model_builder.h"

namespace attnviz {
namespace {

// Several blocks of queries.
constexpr std::size_t kTokens = 130;
constexpr std::size_t kWidth = 8;

MatrixBuffer copied(ConstMatrix from) {
  MatrixBuffer kept(from.rows, from.cols);
  for (std::size_t row = 0; row < from.rows; ++row) {
    std::ranges::copy(from.row(row), kept.view().row_data(row));
  }
  return kept;
}

// Keeps the contexts, and the values of heads with an even number.
class EvenValues : public RunObserver {
 public:
  bool wants(std::size_t /*layer*/, LayerStep step) const override {
    return step == LayerStep::kContexts;
  }
  void contexts(const RunPlace& at, Matrix z) override { of_layers.emplace(at.layer, copied(z)); }
  bool wants_values(HeadId head) const override { return head.head % 2 == 0; }
  void values(std::size_t layer, std::span<const HeadValues> heads) override {
    for (const HeadValues& one : heads) {
      REQUIRE(one.values.rows == kTokens);
      REQUIRE(of_heads.emplace(HeadId{layer, one.head}, copied(one.values)).second);
    }
  }

  std::map<std::size_t, MatrixBuffer> of_layers;
  std::map<HeadId, MatrixBuffer> of_heads;
};

// Asks for weights alone, and fails when it is given values.
class WeightsOnly : public RunObserver {
 public:
  using RunObserver::RunObserver;
  void values(std::size_t /*layer*/, std::span<const HeadValues> /*heads*/) override {
    FAIL("not asked for");
  }
};

// Two layers; in the second one heads 0 and 2 share keys and values.
test::ModelBuilder two_layers(LayerOrder order) {
  test::ModelBuilder builder(kTokens, kWidth);
  builder.add_layer({{4, 4}, {3, 6}, {4, 2}}, test::OutputForm::kPerLayer);
  builder.add_layer({{3, 5}, {6, 2}, {3, 5}}, test::OutputForm::kPerLayer);
  std::vector<HeadWeights>& heads = builder.model.layers[1].heads;
  heads[0].key = heads[2].key;
  heads[0].value = heads[2].value;
  builder.model.config.order = order;
  if (order != LayerOrder::kAttentionOnly) {
    for (LayerWeights& layer : builder.model.layers) {
      layer.attention_norm.weight = builder.random(1, kWidth).row(0);
      layer.mlp_norm.weight = builder.random(1, kWidth).row(0);
      layer.mlp.up.weight = builder.random(kWidth, 5);
      layer.mlp.down.weight = builder.random(5, kWidth);
    }
  }
  return builder;
}

void check_contexts(const Model& model, const PatternStore& patterns, const EvenValues& seen) {
  std::size_t n_reported = 0;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const ConstMatrix contexts = seen.of_layers.at(layer).view();
    std::size_t column = 0;
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      const std::size_t d_value = model.layers[layer].heads[head].d_value();
      for (std::size_t i = 0; head % 2 == 0 && i < d_value; ++i) {
        const ConstMatrix weights = patterns.pattern({layer, head});
        const ConstMatrix values = seen.of_heads.at({layer, head}).view();
        for (std::size_t query = 0; query < kTokens; query += 43) {
          double sum = 0.0;
          for (std::size_t key = 0; key < kTokens; ++key) {
            sum += static_cast<double>(weights(query, key)) * static_cast<double>(values(key, i));
          }
          CHECK(contexts(query, column + i) == doctest::Approx(sum).epsilon(1e-4));
        }
      }
      n_reported += head % 2 == 0 ? 1U : 0U;
      column += d_value;
    }
  }
  CHECK(seen.of_heads.size() == n_reported);
}

}  // namespace

TEST_CASE("head values: a head's weights times its values are its context") {
  for (const LayerOrder order : {LayerOrder::kAttentionOnly, LayerOrder::kPreNorm}) {
    const test::ModelBuilder builder = two_layers(order);
    PatternStore patterns(select_heads(builder.model, "", ""), kTokens);
    EvenValues seen;
    WeightsOnly other(patterns);
    ObserverGroup group({&other, &seen});
    AttentionRequest request;
    request.n_threads = 2;
    run(builder.model, test::Pieces(kTokens), request, group);
    check_contexts(builder.model, patterns, seen);
  }
}

TEST_CASE("head values: they are reported for the last layer, too, if it computes only weights") {
  class Values : public WeightsOnly {
   public:
    using WeightsOnly::WeightsOnly;
    bool wants_values(HeadId head) const override { return head.layer == 1; }
    void values(std::size_t layer, std::span<const HeadValues> heads) override {
      CHECK(layer == 1);
      n_reported += heads.size();
    }
    std::size_t n_reported = 0;
  };
  const test::ModelBuilder builder = two_layers(LayerOrder::kPreNorm);
  PatternStore patterns(select_heads(builder.model, "", ""), kTokens);
  Values observer(patterns);
  run(builder.model, test::Pieces(kTokens), {}, observer);
  CHECK(observer.n_reported == 3);
}

}  // namespace attnviz
