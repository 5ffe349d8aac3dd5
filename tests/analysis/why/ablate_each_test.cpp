// Heads, layers and MLPs removed one by one, against float64 numbers, double loops and whole runs.
#include "attnviz/analysis/why/prediction_change.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"
#include "support/naive_model.h"
#include "support/prediction_model.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

using nlohmann::json;

constexpr AblatedPart kAllParts[] = {AblatedPart::kHeads, AblatedPart::kMlps, AblatedPart::kLayers};

void check_effect(const PredictionChange& found, const json& expected) {
  test::check_why(found.kl_bits, expected["kl_bits"]);
  test::check_why(found.kl_bits_mean, expected["kl_bits_mean"]);
  test::check_why(found.log_probability, expected["target_change_nats"]);
  CHECK(found.top.id == expected["top"].get<std::uint32_t>());
}

// In the order of the request.
std::vector<json> expected_effects(const json& numbers) {
  std::vector<json> all;
  const json& heads = numbers["heads"];
  for (std::size_t layer = 0; layer < heads["top"].size(); ++layer) {
    for (std::size_t head = 0; head < heads["top"][layer].size(); ++head) {
      json& effect = all.emplace_back();
      for (const auto& [key, values] : heads.items()) {
        effect[key] = values[layer][head];
      }
    }
  }
  for (const char* part : {"mlps", "layers"}) {
    all.insert(all.end(), numbers[part].begin(), numbers[part].end());
  }
  return all;
}

// KL in bits of each row.
std::vector<double> divergences(const test::Rows& base, const test::Rows& changed) {
  std::vector<double> all;
  for (std::size_t row = 0; row < base.size(); ++row) {
    double bits = 0.0;
    for (std::size_t id = 0; id < base[row].size(); ++id) {
      bits += std::exp(base[row][id]) * (base[row][id] - changed[row][id]) / std::log(2.0);
    }
    all.push_back(bits);
  }
  return all;
}

}  // namespace

TEST_CASE("ablate_each: the effects of each head, MLP and layer agree with float64 numbers") {
  for (const test::WhyCase& one : test::why_cases()) {
    CAPTURE(one.numbers["model"].dump());
    for (const bool by_mean : {false, true}) {
      CAPTURE(by_mean);
      const std::vector<json> expected =
          expected_effects(one.numbers["ablation"][by_mean ? "mean" : "zero"]);
      const std::vector<AblationEffect> found = ablate_each(
          one.model, test::text_of(one.ids), {}, one.numbers["target"], kAllParts, by_mean);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        check_effect(found[i].change, expected[i]);
      }
    }
  }
}

TEST_CASE("ablate_each: removed parts are listed in the order of parts, by layer, then head") {
  const Model model = test::prediction_model(LayerOrder::kPreNorm);
  const TokenizedText text = test::text_of({0, 0, 0, 0, 0});
  constexpr AblatedPart kParts[] = {AblatedPart::kMlps, AblatedPart::kHeads};
  std::string order;
  for (const AblationEffect& one : ablate_each(model, text, {}, 3, kParts, false)) {
    order += one.what.mlp ? "m" : std::to_string(one.what.head.value_or(9));
    order += std::to_string(one.what.layer) + " ";
  }
  CHECK(order == "m0 m1 m2 00 10 01 11 02 12 ");
}

TEST_CASE("ablate_each: heads, MLPs and layers removed, against double loops") {
  for (const LayerOrder order : {LayerOrder::kPreNorm, LayerOrder::kParallel, LayerOrder::kPostNorm,
                                 LayerOrder::kAttentionOnly}) {
    const Model model = test::prediction_model(order);
    constexpr std::uint32_t kTarget = 3;
    const test::Rows base = test::naive_log_probabilities(model);
    const std::vector<AblationEffect> effects =
        ablate_each(model, test::text_of({0, 0, 0, 0, 0}), {}, kTarget, kAllParts, false);
    CHECK(effects.size() == (order == LayerOrder::kAttentionOnly ? 9 : 12));
    for (const AblationEffect& one : effects) {
      CAPTURE(one.what.layer);
      CAPTURE(one.what.mlp);
      test::NaiveEdits edits;
      if (one.what.mlp) {
        edits.mlp_factor = [&](std::size_t layer) { return layer == one.what.layer ? 0.0 : 1.0; };
      } else {
        edits.context_factor = [&](HeadId head) {
          return head.layer == one.what.layer && one.what.head.value_or(head.head) == head.head
                     ? 0.0
                     : 1.0;
        };
      }
      const test::Rows changed = test::naive_log_probabilities(model, edits);
      const std::vector<double> bits = divergences(base, changed);
      double mean = 0.0;
      for (const double one_row : bits) {
        mean += one_row / static_cast<double>(bits.size());
      }
      test::check_why(one.change.kl_bits, bits.back());
      test::check_why(one.change.kl_bits_mean, mean);
      test::check_why(one.change.log_probability, changed.back()[kTarget] - base.back()[kTarget]);
      const auto top = std::ranges::max_element(changed.back());
      CHECK(static_cast<std::ptrdiff_t>(one.change.top.id) == top - changed.back().begin());
      test::check_why(one.change.top.probability, std::exp(*top));
    }
  }
}

TEST_CASE("ablate_each: on top of earlier removals it agrees with whole runs") {
  const Model model = demo_model();
  const std::vector<std::uint32_t> ids = {0, 322, 1081, 3945, 4296, 2216, 3875, 777, 14, 3945};
  Interventions given{{{1, 2, false, true}, {2, {}, true, false}}, {{{5}, {2, 4}, {1, 3}, {}}}};
  const auto last_of = [&](const Interventions& interventions) {
    AttentionRequest request;
    request.interventions = std::make_shared<const Interventions>(interventions);
    ModelInput input;
    input.ids = ids;
    return test::output_of(model, input, request);
  };
  const MatrixBuffer base = last_of(given);
  UnchangedPrediction prediction(model, base.view(), 4296, 1);
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(given);
  for (const bool by_mean : {false, true}) {
    const auto effects = ablate_each(model, test::text_of(ids), request, 4296, kAllParts, by_mean);
    REQUIRE(effects.size() == 24);
    for (const AblationEffect& one : effects) {
      CAPTURE(one.what.layer);
      Interventions both = given;
      both.ablations.insert(both.ablations.begin(), one.what);  // the given interventions come last
      const MatrixBuffer changed = last_of(both);
      const PredictionChange expected = prediction.changes_to(changed.view()).front();
      test::check_why(one.change.log_probability, expected.log_probability);
      test::check_why(one.change.kl_bits_mean, expected.kl_bits_mean);
    }
  }
}

TEST_CASE("ablate_each: a part already removed changes nothing, and stays removed as it was") {
  const Model model = demo_model();
  const TokenizedText text = test::text_of({0, 322, 1081, 3945, 4296, 2216, 3875, 777, 14, 3945});
  const auto effects_with = [&](const std::vector<Ablation>& out, bool by_mean) {
    AttentionRequest request;
    request.interventions = std::make_shared<const Interventions>(Interventions{out, {}});
    return ablate_each(model, text, request, 4296, kAllParts, by_mean);
  };
  const auto is_nothing = [](const AblationEffect& effect) {
    return effect.change.log_probability == 0.0 && effect.change.kl_bits == 0.0 &&
           effect.change.kl_bits_mean == 0.0;
  };
  for (const bool by_mean : {false, true}) {
    // One head, one MLP and a layer's attention, replaced differently from the parts.
    const auto effects = effects_with(
        {{1, 3, false, !by_mean}, {2, {}, true, !by_mean}, {3, {}, false, !by_mean}}, by_mean);
    for (const AblationEffect& one : effects) {
      CAPTURE(one.what.layer);
      CAPTURE(one.what.mlp);
      const bool is_out = one.what.mlp          ? one.what.layer == 2
                          : one.what.layer == 1 ? one.what.head == std::size_t{3}
                                                : one.what.layer == 3;
      CHECK(is_nothing(one) == is_out);
    }
    // A layer whose heads are all removed is removed; with one of them left it equals that head.
    std::vector<Ablation> heads;
    for (std::size_t head = 0; head < model.layers[1].heads.size(); ++head) {
      heads.push_back({1, head, false, !by_mean});
    }
    const auto layer_of = [](const std::vector<AblationEffect>& all) {
      return *std::ranges::find(all, true, [](const AblationEffect& one) {
        return one.what.layer == 1 && !one.what.head && !one.what.mlp;
      });
    };
    CHECK(is_nothing(layer_of(effects_with(heads, by_mean))));
    heads.pop_back();
    const auto one_left = effects_with(heads, by_mean);
    const auto last = std::ranges::find(one_left, Ablation{1, heads.size(), false, by_mean},
                                        &AblationEffect::what);
    REQUIRE(last != one_left.end());
    test::check_why(layer_of(one_left).change.log_probability, last->change.log_probability);
    CHECK_FALSE(is_nothing(*last));
  }
}

TEST_CASE("ablate_each: bit-identical for any number of threads, and progress grows to 1") {
  const Model model = demo_model();
  const TokenizedText text = test::text_of({0, 322, 1081, 3945, 4296, 2216, 3875});
  AttentionRequest request;
  std::vector<double> progress;
  request.report = [&](double done) { progress.push_back(done); };
  const auto alone = ablate_each(model, text, request, 7, kAllParts, false);
  request.report = {};
  request.n_threads = 2;
  const auto together = ablate_each(model, text, request, 7, kAllParts, false);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK(alone[i].change.kl_bits_mean == together[i].change.kl_bits_mean);
  }
  CHECK(progress.size() == alone.size());
  CHECK(std::ranges::is_sorted(progress));
  CHECK(progress.back() == 1.0);
}

TEST_CASE("ablate_each: impossible requests are refused") {
  const Model model = test::prediction_model(LayerOrder::kPreNorm);
  const TokenizedText text = test::text_of({0, 0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(ablate_each(model, text, {}, 11, kAllParts, false),
                       "token 11: expected less than 11 tokens", Error);
  CHECK_THROWS_AS(ablate_each(model, {}, {}, 1, kAllParts, false), Error);
  Model silent = model;
  silent.head.unembedding = {};
  CHECK_THROWS_WITH_AS(ablate_each(silent, text, {}, 1, kAllParts, false),
                       doctest::Contains("it predicts no tokens"), Error);
  CHECK(ablate_each(model, text, {}, 1, {}, false).empty());
}

}  // namespace attnviz
