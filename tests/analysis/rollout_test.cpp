#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "attnviz/analysis/rollout.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"
#include "support/model_builder.h"
#include "support/why_cases.h"

namespace attnviz {

namespace {

using Rows = std::vector<std::vector<float>>;

// Hands a rollout the pattern of each layer, which has one head.
MatrixBuffer rollout_of(const std::vector<Rows>& layers, const RolloutRequest& asked) {
  const std::size_t n = layers.front().size();
  const Model model = random_model({.n_layers = layers.size(), .n_heads = 1}, /*seed=*/1);
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    heads.push_back({layer, 0});
  }
  Rollout rollout(model, heads, n, {}, asked);
  for (const HeadId head : heads) {
    rollout.stream({.layer = head.layer}, {});
    for (std::size_t query = 0; query < n; ++query) {
      rollout.rows(head, query, 0, {layers[head.layer][query].data(), 1, n, n});
    }
  }
  return rollout.take();
}

std::vector<HeadId> all_heads(const Model& model) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

MatrixBuffer rollout_of(const Model& model, const ModelInput& input,
                        const std::vector<HeadId>& heads, const AttentionRequest& request,
                        const RolloutRequest& asked) {
  Rollout rollout(model, heads, input.size(), request, asked);
  RunObserver weights(static_cast<PatternSink&>(rollout));
  ObserverGroup both({&weights, &rollout});
  run(model, input, request, both);
  return rollout.take();
}

// The definition in plain double-precision loops, from complete patterns.
std::vector<double> plain_rollout(const Model& model, const ModelInput& input,
                                  const std::vector<HeadId>& heads, const RolloutRequest& asked) {
  const std::size_t n = input.size();
  PatternStore store(heads, n);
  run(model, input, {}, store);
  std::vector<double> reached(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    reached[i * n + i] = 1.0;
  }
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    std::vector<double> next(n * n, 0.0);
    const double share = has_residual(model, layer) ? static_cast<double>(asked.residual) : 0.0;
    for (std::size_t query = 0; query < n; ++query) {
      std::vector<double> row(n, 0.0);
      std::size_t n_heads = 0;
      for (const HeadId head : heads) {
        if (head.layer == layer) {
          ++n_heads;
          for (std::size_t key = 0; key < n; ++key) {
            const auto weight = static_cast<double>(store.pattern(head)(query, key));
            row[key] =
                asked.over == RolloutOver::kMean ? row[key] + weight : std::max(row[key], weight);
          }
        }
      }
      double sum = 0.0;
      for (std::size_t key = 0; key < n; ++key) {
        row[key] *=
            (1.0 - share) / (asked.over == RolloutOver::kMean ? static_cast<double>(n_heads) : 1.0);
        row[key] += key == query ? share : 0.0;
        sum += row[key];
      }
      for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t key = 0; key < n; ++key) {
          next[query * n + from] += row[key] / sum * reached[key * n + from];
        }
      }
    }
    reached = next;
  }
  return reached;
}

void check_row(ConstMatrix rollout, const nlohmann::json& expected, std::size_t query) {
  for (std::size_t key = 0; key < expected.size(); ++key) {
    CAPTURE(key);
    CHECK(std::abs(static_cast<double>(rollout(query, key)) - expected[key].get<double>()) < 1e-5);
  }
}

}  // namespace

TEST_CASE("rollout: one layer of identity attention changes nothing") {
  const MatrixBuffer found = rollout_of({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {});
  for (std::size_t query = 0; query < 3; ++query) {
    for (std::size_t key = 0; key < 3; ++key) {
      CHECK(found.view()(query, key) == (query == key ? 1.0f : 0.0f));
    }
  }
}

TEST_CASE("rollout: two layers computed by hand") {
  const Rows first = {{1, 0}, {0.5f, 0.5f}};
  const Rows second = {{1, 0}, {0.2f, 0.8f}};
  // ½ A + ½ I: rows [1, 0], [0.25, 0.75] and [1, 0], [0.1, 0.9].
  const MatrixBuffer half = rollout_of({first, second}, {});
  CHECK(half.view()(0, 0) == 1.0f);
  CHECK(half.view()(0, 1) == 0.0f);
  CHECK(half.view()(1, 0) == doctest::Approx(0.1 + 0.9 * 0.25));
  CHECK(half.view()(1, 1) == doctest::Approx(0.9 * 0.75));
  const MatrixBuffer bare = rollout_of({first, second}, {.residual = 0.0f});
  CHECK(bare.view()(1, 0) == doctest::Approx(0.2 + 0.8 * 0.5));
  CHECK(bare.view()(1, 1) == doctest::Approx(0.8 * 0.5));
}

TEST_CASE(
    "rollout: a query that sees nothing keeps its own weight, and without a residual gets 0") {
  const Rows blind = {{0, 0}, {0.5f, 0.5f}};
  CHECK(rollout_of({blind, blind}, {}).view()(0, 0) == 1.0f);
  const MatrixBuffer bare = rollout_of({blind, blind}, {.residual = 0.0f});
  CHECK(bare.view()(0, 0) == 0.0f);
  CHECK(bare.view()(1, 1) == 0.25f);
}

TEST_CASE("rollout: means, maxima and any residual agree with plain loops; rows sum to 1") {
  const test::Pieces pieces(17);
  Model model = random_model({.n_layers = 3, .n_heads = 5}, /*seed=*/3);
  for (const bool residual : {true, false}) {
    model.config.residual = residual;
    for (const RolloutRequest& asked :
         {RolloutRequest{}, RolloutRequest{RolloutOver::kMax, 0.3f, false},
          RolloutRequest{RolloutOver::kMean, 0.0f, false}}) {
      CAPTURE(asked.residual);
      CAPTURE(residual);
      const std::vector<double> expected = plain_rollout(
          model, ModelInput(std::span<const std::string_view>(pieces)), all_heads(model), asked);
      for (const std::size_t n_threads : {std::size_t{1}, std::size_t{3}}) {
        AttentionRequest request;
        request.n_threads = n_threads;
        const MatrixBuffer found =
            rollout_of(model, ModelInput(std::span<const std::string_view>(pieces)),
                       all_heads(model), request, asked);
        for (std::size_t query = 0; query < 17; ++query) {
          double sum = 0.0;
          for (std::size_t key = 0; key < 17; ++key) {
            const auto weight = static_cast<double>(found.view()(query, key));
            CHECK(std::abs(weight - expected[query * 17 + key]) < 1e-6);
            sum += weight;
          }
          CHECK(std::abs(sum - 1.0) < 1e-6);
        }
      }
    }
  }
}

TEST_CASE("rollout: texts of several blocks, with and without looking ahead") {
  constexpr std::size_t kTokens = 450;
  const test::Pieces pieces(kTokens);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  Model model = random_model({.n_layers = 3, .n_heads = 1}, /*seed=*/3);
  for (const MaskKind mask : {MaskKind::kCausal, MaskKind::kNone}) {
    model.config.mask.kind = mask;
    const std::vector<double> expected = plain_rollout(model, input, all_heads(model), {});
    AttentionRequest request;
    request.n_threads = 2;
    const MatrixBuffer found = rollout_of(model, input, all_heads(model), request, {});
    double largest = 0.0;
    for (std::size_t i = 0; i < kTokens * kTokens; ++i) {
      largest = std::max(
          largest,
          std::abs(static_cast<double>(found.view()(i / kTokens, i % kTokens)) - expected[i]));
    }
    CHECK(largest < 1e-6);
  }
}

TEST_CASE("rollout: layers without a chosen head are left out") {
  const test::Pieces pieces(9);
  const Model model = random_model({.n_layers = 3, .n_heads = 2}, /*seed=*/5);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  PatternStore store({{1, 1}}, 9);
  run(model, input, {}, store);
  const MatrixBuffer found =
      rollout_of(model, input, {{1, 1}}, {}, RolloutRequest{.residual = 0.0f});
  for (std::size_t query = 0; query < 9; ++query) {
    for (std::size_t key = 0; key < 9; ++key) {
      CHECK(found.view()(query, key) ==
            doctest::Approx(store.pattern({1, 1})(query, key)).epsilon(1e-5));
    }
  }
}

TEST_CASE("rollout: a head's weights are multiplied by its value norms, row by row") {
  const test::Pieces pieces(6);
  const Model model = random_model({.n_layers = 1, .n_heads = 2}, /*seed=*/9);
  const ModelInput input{std::span<const std::string_view>(pieces)};
  PatternStore store(all_heads(model), 6);
  ValueNorms norms(model, all_heads(model), 1, store);
  run(model, input, {}, norms);
  const MatrixBuffer found =
      rollout_of(model, input, all_heads(model), {}, {RolloutOver::kMean, 0.0f, true});
  for (std::size_t query = 0; query < 6; ++query) {
    std::vector<double> row(6, 0.0);
    for (const HeadId head : all_heads(model)) {
      double sum = 0.0;
      for (std::size_t key = 0; key < 6; ++key) {
        sum += static_cast<double>(store.pattern(head)(query, key)) * norms.of(head)[key];
      }
      for (std::size_t key = 0; key < 6; ++key) {
        row[key] +=
            static_cast<double>(store.pattern(head)(query, key)) * norms.of(head)[key] / sum / 2.0;
      }
    }
    for (std::size_t key = 0; key < 6; ++key) {
      CHECK(std::abs(static_cast<double>(found.view()(query, key)) - row[key]) < 1e-6);
    }
  }
}

TEST_CASE("rollout: agrees with an independent float64 implementation") {
  for (const test::WhyCase& one : test::why_cases()) {
    CAPTURE(one.numbers["model"].dump());
    const nlohmann::json& expected = one.numbers["rollout"];
    ModelInput input;
    input.ids = one.ids;
    const std::size_t last = one.ids.size() - 1;
    const auto rollout = [&](const std::vector<HeadId>& heads, const RolloutRequest& asked) {
      return rollout_of(one.model, input, heads, {}, asked);
    };
    const MatrixBuffer mean = rollout(all_heads(one.model), {});
    for (std::size_t query = 0; query <= last; ++query) {
      check_row(mean.view(), expected["mean"][query], query);
    }
    std::vector<HeadId> below;
    for (std::size_t layer = 0; layer < one.model.n_layers(); ++layer) {
      for (const HeadId head : all_heads(one.model)) {
        if (head.layer == layer) {
          below.push_back(head);
        }
      }
      check_row(rollout(below, {}).view(), expected["last_row_by_layer"][layer], last);
    }
    check_row(rollout(all_heads(one.model), {RolloutOver::kMax, 0.5f, false}).view(),
              expected["max_last_row"], last);
    check_row(rollout(all_heads(one.model), {RolloutOver::kMean, 0.0f, false}).view(),
              expected["no_residual_last_row"], last);
  }
}

namespace {

const std::vector<std::string_view> kPieces = {"The", "cat", "sat", "on", "the", "mat", "."};

std::vector<HeadId> rectangle(std::size_t n_layers, std::size_t n_heads) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    for (std::size_t head = 0; head < n_heads; ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

// The same mean in plain long double loops, from complete patterns.
double plain_mean(const PatternStore& store, const std::vector<HeadId>& heads, std::size_t query,
                  std::size_t key) {
  long double sum = 0.0L;
  for (const HeadId head : heads) {
    sum += static_cast<long double>(store.pattern(head)(query, key));
  }
  return static_cast<double>(sum / static_cast<long double>(heads.size()));
}

}  // namespace

TEST_CASE("average_groups: over heads per layer, over layers per head, over all") {
  const std::vector<HeadId> heads = {{0, 1}, {0, 2}, {3, 1}, {3, 2}};
  using Groups = std::vector<std::vector<HeadId>>;
  CHECK(average_groups(heads, AverageOver::kHeads) == Groups{{{0, 1}, {0, 2}}, {{3, 1}, {3, 2}}});
  CHECK(average_groups(heads, AverageOver::kLayers) == Groups{{{0, 1}, {3, 1}}, {{0, 2}, {3, 2}}});
  CHECK(average_groups(heads, AverageOver::kAll) == Groups{heads});
}

TEST_CASE("average_groups: an incomplete selection is averaged only as a whole") {
  const std::vector<HeadId> holes = {{0, 1}, {1, 2}};
  CHECK(average_groups(holes, AverageOver::kAll).front() == holes);
  CHECK_THROWS_WITH_AS(average_groups(holes, AverageOver::kHeads),
                       doctest::Contains("average heads: needs the same heads of every layer"),
                       Error);
  CHECK_THROWS_AS(average_groups(holes, AverageOver::kLayers), Error);
}

TEST_CASE("AverageSink: means agree with plain loops over whole patterns") {
  const Model model = random_model({.n_layers = 3, .n_heads = 5}, /*seed=*/7);
  const std::vector<HeadId> heads = rectangle(3, 5);
  for (const float dropout : {0.0f, 0.75f}) {
    for (const AverageOver over : {AverageOver::kHeads, AverageOver::kLayers, AverageOver::kAll}) {
      CAPTURE(dropout);
      CAPTURE(std::string(average_name(over)));
      AttentionRequest request;
      request.dropout = dropout;
      request.dropout_seed = 3;
      PatternStore store(heads, kPieces.size());
      run(model, kPieces, request, store);
      AverageSink sink(average_groups(heads, over), kPieces.size(), 1.0f / (1.0f - dropout));
      run(model, kPieces, request, sink);
      for (std::size_t group = 0; group < sink.groups().size(); ++group) {
        const MatrixBuffer mean = sink.take_mean(group);
        REQUIRE(mean.rows() == kPieces.size());
        for (std::size_t query = 0; query < kPieces.size(); ++query) {
          for (std::size_t key = 0; key < kPieces.size(); ++key) {
            const double expected = plain_mean(store, sink.groups()[group], query, key);
            CHECK(std::abs(static_cast<double>(mean.view()(query, key)) - expected) < 1e-7);
          }
        }
      }
    }
  }
}

TEST_CASE("AverageSink: the result is bit-identical for any order of threads") {
  constexpr std::size_t kTokens = 40;
  constexpr std::size_t kHeads = 16;
  std::vector<float> weights(kTokens * kTokens);
  const auto mean_of = [&weights](bool reversed) {
    AverageSink sink({rectangle(1, kHeads)}, kTokens, 1.0f);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kHeads; ++i) {
      const std::size_t head = reversed ? kHeads - 1 - i : i;
      threads.emplace_back([&weights, &sink, head] {
        std::vector<float> mine = weights;
        for (std::size_t at = 0; at < mine.size(); ++at) {
          mine[at] = 1.0f / static_cast<float>(3 + (at * 7 + head * 11) % 97);
        }
        sink.rows({0, head}, 0, 0, {mine.data(), kTokens, kTokens, kTokens});
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return sink.take_mean(0);
  };
  const MatrixBuffer one = mean_of(false);
  const MatrixBuffer other = mean_of(true);
  for (std::size_t query = 0; query < kTokens; ++query) {
    for (std::size_t key = 0; key < kTokens; ++key) {
      REQUIRE(one.view()(query, key) == other.view()(query, key));
    }
  }
}

TEST_CASE("AverageSink: asks only for the heads of its groups") {
  const AverageSink sink({{{0, 1}}, {{2, 0}}}, 3, 1.0f);
  CHECK(sink.wants({0, 1}));
  CHECK(sink.wants({2, 0}));
  CHECK_FALSE(sink.wants({0, 0}));
  CHECK_FALSE(sink.wants({1, 1}));
}

}  // namespace attnviz
