#include "attnviz/attention/run_observer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "support/model_builder.h"
#include "support/naive.h"
#include "support/naive_model.h"

namespace attnviz {

namespace {

using test::ModelBuilder;
using test::OutputForm;

// Several blocks of queries.
constexpr std::size_t kLength = 130;
constexpr std::size_t kSize = 8;
constexpr HeadId kEdited{1, 0};
constexpr double kClose = 2e-5;

Norm random_norm(ModelBuilder& builder, NormKind kind) {
  Norm norm;
  norm.kind = kind;
  norm.weight = builder.random(1, kSize).row(0);
  norm.bias = kind == NormKind::kLayer ? builder.random(1, kSize).row(0) : norm.bias;
  return norm;
}

// Norms and an MLP around each layer's attention.
void surround(ModelBuilder& builder, LayerOrder order, bool norms_after = false) {
  builder.model.config.order = order;
  const NormKind kind = norms_after ? NormKind::kRms : NormKind::kLayer;
  for (LayerWeights& layer : builder.model.layers) {
    layer.attention_norm = random_norm(builder, kind);
    layer.mlp_norm = random_norm(builder, kind);
    if (norms_after) {
      layer.after_attention_norm = random_norm(builder, kind);
      layer.after_mlp_norm = random_norm(builder, kind);
    }
    layer.mlp.activation = Activation::kRelu;
    layer.mlp.up = {builder.random(kSize, 20, 0.5f), builder.random(1, 20).row(0)};
    layer.mlp.down = {builder.random(20, kSize, 0.3f), builder.random(1, kSize).row(0)};
  }
}

ModelBuilder three_layers(OutputForm form = OutputForm::kPerLayer) {
  ModelBuilder builder(kLength, kSize);
  builder.add_layer({{4, 4}, {4, 4}}, form);
  builder.add_layer({{3, 5}, {6, 2}, {4, 4}}, form);
  builder.add_layer({{4, 4}, {4, 4}}, form);
  return builder;
}

// One model for each order of a layer, and for each form of attention alone.
std::map<std::string, Model> models() {
  std::map<std::string, Model> all;
  for (const bool residual : {true, false}) {
    ModelBuilder builder = three_layers(residual ? OutputForm::kPerLayer : OutputForm::kPerHead);
    builder.model.config.residual = residual;
    all.emplace(residual ? "attention only" : "attention only, W_O by head, no residual",
                builder.model);
    builder.add_layer({{4, 6}, {2, 3}});
    all.emplace(residual ? "no W_O" : "no W_O, no residual", builder.model);
  }
  ModelBuilder shared = three_layers();
  std::vector<HeadWeights>& heads = shared.model.layers[1].heads;
  shared.model.config.positions = Positions::kRope;
  heads[0].query = {shared.random(kSize, 4), {}};
  heads[0].key = heads[2].key;
  heads[0].value = heads[2].value;
  shared.model.layers[1].output.weight = shared.random(4 + 2 + 4, kSize);
  all.emplace("shared keys and values, rope", shared.model);
  for (const auto& [name, order] :
       {std::pair("pre-norm", LayerOrder::kPreNorm), std::pair("parallel", LayerOrder::kParallel),
        std::pair("post-norm", LayerOrder::kPostNorm)}) {
    ModelBuilder builder = three_layers();
    surround(builder, order);
    all.emplace(name, builder.model);
  }
  ModelBuilder twice = three_layers();
  surround(twice, LayerOrder::kPreNorm, /*norms_after=*/true);
  all.emplace("norms before and after", twice.model);
  return all;
}

template <class Work>
void for_each_model(const Work& work) {
  for (const auto& one : models()) {
    CAPTURE(one.first);
    work(one.second);
  }
}

MatrixBuffer output_under(const Model& model, RunObserver& observer, std::size_t n_threads = 1) {
  OutputRows output(model, 0, kLength);
  ObserverGroup both({&observer, &output});
  AttentionRequest request;
  request.n_threads = n_threads;
  run(model, test::Pieces(kLength), request, both);
  return output.take();
}

class DoubledContext : public RunObserver {
 public:
  explicit DoubledContext(std::size_t d_value) : d_value_(d_value) {}
  bool wants(std::size_t layer, LayerStep step) const override {
    return layer == kEdited.layer && step == LayerStep::kContexts;
  }
  void contexts(const RunPlace& at, Matrix z) override {
    CHECK(at.first_token == 0);
    for (std::size_t row = 0; row < z.rows; ++row) {
      for (std::size_t col = 0; col < d_value_; ++col) {
        z(row, col) *= 2.0f;
      }
    }
  }

 private:
  std::size_t d_value_;
};

class ScaledMlp : public RunObserver {
 public:
  ScaledMlp(std::size_t layer, float factor) : layer_(layer), factor_(factor) {}
  bool wants(std::size_t layer, LayerStep step) const override {
    return layer == layer_ && step == LayerStep::kMlp;
  }
  void mlp(const RunPlace& /*at*/, Matrix y) override {
    for (std::size_t row = 0; row < y.rows; ++row) {
      for (float& value : y.row(row)) {
        value *= factor_;
      }
    }
  }

 private:
  std::size_t layer_;
  float factor_;
};

using Edges = bool (*)(std::size_t query, std::size_t key);

class EdgeHider : public RunObserver {
 public:
  EdgeHider(std::vector<HeadId> heads, Edges are_hidden, PatternSink& patterns)
      : RunObserver(patterns), heads_(std::move(heads)), are_hidden_(are_hidden) {}
  bool hides(HeadId head) const override { return std::ranges::find(heads_, head) != heads_.end(); }
  void hide(HeadId /*head*/, EdgeBlock& edges) const override {
    for (std::size_t query = edges.first_query(); query < edges.end_query(); ++query) {
      for (std::size_t key = 0; key < kLength; ++key) {  // including those outside of blocks
        if (are_hidden_(query, key)) {
          edges.hide(query, key);
        }
      }
    }
  }

 private:
  std::vector<HeadId> heads_;
  Edges are_hidden_;
};

// Records the steps that it asks for: all by default.
class Onlooker : public RunObserver {
 public:
  using Wants = std::function<bool(std::size_t layer, LayerStep step)>;

  explicit Onlooker(Wants wants = [](std::size_t, LayerStep) { return true; })
      : wants_(std::move(wants)) {}

  struct Seen {
    std::size_t layer;
    LayerStep step;
    std::vector<float> values;
  };

  bool wants(std::size_t layer, LayerStep step) const override { return wants_(layer, step); }
  void stream(const RunPlace& at, ConstMatrix x) override { note(at, x); }
  void contexts(const RunPlace& at, Matrix z) override { note(at, z); }
  void attention(const RunPlace& at, Matrix a) override { note(at, a); }
  void mlp(const RunPlace& at, Matrix y) override { note(at, y); }

  ConstMatrix of(std::size_t layer, LayerStep step) const {
    for (const Seen& one : seen) {
      if (one.layer == layer && one.step == step) {
        const std::size_t cols = one.values.size() / kLength;
        return {one.values.data(), kLength, cols, cols};
      }
    }
    return {};
  }

  std::vector<Seen> seen;

 private:
  void note(const RunPlace& at, ConstMatrix x) {
    Seen one{at.layer, at.step, {}};
    for (std::size_t row = 0; row < x.rows; ++row) {
      one.values.insert(one.values.end(), x.row(row).begin(), x.row(row).end());
    }
    seen.push_back(std::move(one));
  }

  Wants wants_;
};

// Asks for nothing, and fails when it is given anything.
class Indifferent : public RunObserver {
 public:
  using RunObserver::RunObserver;
  void stream(const RunPlace& /*at*/, ConstMatrix /*x*/) override { FAIL("not asked for"); }
  void contexts(const RunPlace& /*at*/, Matrix /*z*/) override { FAIL("not asked for"); }
  void attention(const RunPlace& /*at*/, Matrix /*a*/) override { FAIL("not asked for"); }
  void mlp(const RunPlace& /*at*/, Matrix /*y*/) override { FAIL("not asked for"); }
};

}  // namespace

TEST_CASE("observer: every step agrees with plain loops, in every order of a layer") {
  for_each_model([&](const Model& model) {
    const test::NaiveResult expected = test::naive_run(model);
    Onlooker seen;
    run(model, test::Pieces(kLength), {}, seen);
    const bool has_mlp = model.config.order != LayerOrder::kAttentionOnly;
    CHECK(seen.seen.size() == model.n_layers() * (has_mlp ? 6 : 5));
    for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
      CAPTURE(layer);
      const test::NaiveLayer& steps = expected.layers[layer];
      const auto check = [&](LayerStep step, const std::vector<double>& numbers) {
        CHECK(test::largest_difference(seen.of(layer, step), numbers) < kClose);
      };
      check(LayerStep::kBefore, steps.before);
      check(LayerStep::kContexts, steps.contexts);
      check(LayerStep::kAttention, steps.attention);
      check(LayerStep::kMiddle, steps.middle);
      check(LayerStep::kAfter, steps.after);
      if (has_mlp) {
        check(LayerStep::kMlp, steps.mlp);
      }
    }
  });
}

TEST_CASE("observer: with pre-norm, a layer adds the outputs of attention and the MLP") {
  const Model model = models().at("pre-norm");
  Onlooker seen;
  run(model, test::Pieces(kLength), {}, seen);
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    std::vector<double> sums;
    for (std::size_t row = 0; row < kLength; ++row) {
      for (std::size_t col = 0; col < kSize; ++col) {
        double sum = 0.0;
        for (const LayerStep step : {LayerStep::kBefore, LayerStep::kAttention, LayerStep::kMlp}) {
          sum += static_cast<double>(seen.of(layer, step)(row, col));
        }
        sums.push_back(sum);
      }
    }
    CHECK(test::largest_difference(seen.of(layer, LayerStep::kAfter), sums) < 2e-6);
  }
}

TEST_CASE("observer: doubling a head's context equals doubling its W_O") {
  for_each_model([&](const Model& model) {
    Model doubled = model;
    LayerWeights& layer = doubled.layers[kEdited.layer];
    ModelBuilder weights(1, kSize);
    const std::size_t d_value = layer.heads[0].d_value();
    const auto twice = [&](const StoredMatrix& matrix) {
      std::vector<float> values;
      for (std::size_t row = 0; row < matrix.rows; ++row) {
        for (const float value : matrix.as_floats().row(row)) {
          values.push_back(value * (row < d_value ? 2.0f : 1.0f));
        }
      }
      return weights.keep(values, matrix.rows, matrix.cols);
    };
    if (layer.output.weight.empty()) {
      layer.heads[0].output = twice(layer.heads[0].output);
    } else {
      layer.output.weight = twice(layer.output.weight);
    }
    test::NaiveEdits edits;
    edits.context_factor = [](HeadId head) { return head == kEdited ? 2.0 : 1.0; };
    DoubledContext observer(d_value);
    const MatrixBuffer expected = test::output_of(doubled, test::Pieces(kLength));
    CHECK(test::largest_difference(expected.view(), test::naive_run(model, {}, edits).output) <
          kClose);
    for (const std::size_t n_threads : {1u, 3u}) {
      CHECK(test::same_bits(output_under(model, observer, n_threads).view(), expected.view()));
    }
  });
}

TEST_CASE("observer: an MLP's output is changed before it is added") {
  for_each_model([&](const Model& model) {
    if (model.config.order == LayerOrder::kAttentionOnly) {
      return;
    }
    for (const float factor : {0.0f, -1.5f}) {
      test::NaiveEdits edits;
      edits.mlp_factor = [factor](std::size_t layer) {
        return layer == 1 ? static_cast<double>(factor) : 1.0;
      };
      ScaledMlp observer(1, factor);
      CHECK(test::largest_difference(output_under(model, observer).view(),
                                     test::naive_run(model, {}, edits).output) < kClose);
    }
  });
}

TEST_CASE("observer: hidden edges have the effect of a mask") {
  for_each_model([&](const Model& model) {
    const std::vector<HeadId> heads = select_heads(model, "", "");
    AttentionRequest masked;
    masked.mask = parse_mask("window:4");
    PatternStore expected(heads, kLength);
    const MatrixBuffer output = test::output_of(model, test::Pieces(kLength), masked, &expected);
    for (const std::size_t n_threads : {1u, 3u}) {
      PatternStore found(heads, kLength);
      EdgeHider observer(
          heads, [](std::size_t query, std::size_t key) { return key + 4 <= query; }, found);
      const MatrixBuffer hidden = output_under(model, observer, n_threads);
      for (const HeadId head : heads) {
        for (std::size_t query = 0; query < kLength; ++query) {
          for (std::size_t key = 0; key < kLength; ++key) {
            const float weight = found.pattern(head)(query, key);
            const float other = expected.pattern(head)(query, key);
            REQUIRE((other == 0.0f ? weight == 0.0f : std::abs(weight - other) < 1e-5f));
          }
        }
      }
      for (std::size_t row = 0; row < kLength; ++row) {
        for (std::size_t col = 0; col < output.cols(); ++col) {
          REQUIRE(std::abs(hidden.view()(row, col) - output.view()(row, col)) < 1e-4f);
        }
      }
    }
  });
}

TEST_CASE("observer: a query whose last edge is hidden gets zeros, other heads are unchanged") {
  const auto are_hidden = [](std::size_t query, std::size_t key) {
    return query == 5 || (query + key) % 3 == 0;
  };
  for_each_model([&](const Model& model) {
    PatternStore patterns(select_heads(model, "", ""), kLength);
    EdgeHider observer({kEdited}, are_hidden, patterns);
    test::NaiveEdits edits;
    edits.hides = [&](HeadId head, std::size_t query, std::size_t key) {
      return head == kEdited && are_hidden(query, key);
    };
    const test::NaiveResult expected = test::naive_run(model, {}, edits);
    CHECK(test::largest_difference(output_under(model, observer).view(), expected.output) < kClose);
    for (const HeadId head : patterns.heads()) {
      CHECK(test::largest_difference(patterns.pattern(head),
                                     expected.patterns[head.layer][head.head]) < 1e-5);
    }
    for (const float weight : patterns.pattern(kEdited).row(5)) {
      CHECK(weight == 0.0f);
    }
  });
}

TEST_CASE("observer: one that asks for nothing is given nothing, and changes no bit") {
  for_each_model([&](const Model& model) {
    PatternStore plain(select_heads(model, "", ""), kLength);
    const MatrixBuffer expected = test::output_of(model, test::Pieces(kLength), {}, &plain);
    PatternStore watched(select_heads(model, "", ""), kLength);
    Indifferent observer(watched);
    Indifferent other;
    ObserverGroup group({&other, &observer});
    CHECK(test::same_bits(output_under(model, group, 3).view(), expected.view()));
    for (const HeadId head : plain.heads()) {
      CHECK(test::same_bits(watched.pattern(head), plain.pattern(head)));
    }
  });
}

TEST_CASE("observer: looking at streams, contexts and attention changes no bit") {
  for_each_model([&](const Model& model) {
    Onlooker onlooker([](std::size_t, LayerStep step) { return step != LayerStep::kMlp; });
    CHECK(test::same_bits(output_under(model, onlooker).view(),
                          test::output_of(model, test::Pieces(kLength)).view()));
  });
}

TEST_CASE("observer: a run ends after the last requested step") {
  const auto only = [](std::size_t layer, LayerStep step) {
    return Onlooker(
        [=](std::size_t one, LayerStep other) { return one == layer && other == step; });
  };
  ModelBuilder builder = three_layers();
  surround(builder, LayerOrder::kPreNorm);
  constexpr float kHuge = 1e30f;
  for (HeadWeights& head : builder.model.layers[1].heads) {
    head.query.weight = builder.random(kSize, head.d_head(), kHuge);
    head.key.weight = builder.random(kSize, head.d_head(), kHuge);
  }
  for (const auto& [layer, step] : {std::pair(std::size_t{0}, LayerStep::kContexts),
                                    std::pair(std::size_t{0}, LayerStep::kAfter),
                                    std::pair(std::size_t{1}, LayerStep::kBefore)}) {
    Onlooker until = only(layer, step);
    run(builder.model, test::Pieces(kLength), {}, until);
    CHECK(until.seen.size() == 1);
  }
  Onlooker until = only(1, LayerStep::kContexts);
  CHECK_THROWS_AS(run(builder.model, test::Pieces(kLength), {}, until), Error);
  CHECK(until.seen.empty());
}

TEST_CASE("observer: numbers that have become NaN or infinite are refused where they are added") {
  const Model model = models().at("pre-norm");
  ScaledMlp observer(1, std::numeric_limits<float>::infinity());
  CHECK_THROWS_AS(output_under(model, observer), Error);
}

TEST_CASE("observer groups: changes are made in order, and every sink gets its heads") {
  const Model model = models().at("parallel");
  ScaledMlp twice(1, 2.0f);
  ScaledMlp half(1, 0.5f);
  PatternStore first({{0, 0}}, kLength);
  PatternStore second({{0, 0}, {2, 1}}, kLength);
  RunObserver to_first(first);
  RunObserver to_second(second);
  ObserverGroup group({&twice, &to_first, &half, &to_second});
  Onlooker onlooker(
      [](std::size_t layer, LayerStep step) { return layer == 1 && step == LayerStep::kMlp; });
  CHECK(test::same_bits(output_under(model, group).view(), output_under(model, onlooker).view()));
  CHECK(test::same_bits(first.pattern({0, 0}), second.pattern({0, 0})));
  const test::NaiveResult expected = test::naive_run(model);
  CHECK(test::largest_difference(second.pattern({2, 1}), expected.patterns[2][1]) < 5e-6);
}

}  // namespace attnviz
