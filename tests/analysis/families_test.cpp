// For every family, the parts of heads, logits and scores agree with its runs.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/why/attribution.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/reference_case.h"
#include "support/why_cases.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  Model model;
  TokenizedText text;
  test::TokenIds ids;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* const folder : {"families", "experts"}) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(ATTNVIZ_SOURCE_DIR "/tests/reference") / folder)) {
      if (fs::exists(entry.path() / "expected.safetensors") &&
          fs::exists(entry.path() / "config.json")) {
        test::ReferenceCase loaded = test::load_reference_case(entry.path());
        if (loaded.model.encoder == nullptr) {  // the checks below take models of one text
          cases.push_back({entry.path().filename().string(), std::move(loaded.model),
                           test::text_of(loaded.text.ids), loaded.text});
        }
      }
    }
  }
  REQUIRE(cases.size() >= 20);
  return cases;
}

// Its last layer with heads, and one in front of it.
std::vector<HeadId> some_heads(const Model& model) {
  std::vector<HeadId> heads;
  for (std::size_t layer = model.n_layers(); layer-- > 0 && heads.size() < 3;) {
    if (!model.layers[layer].heads.empty()) {
      heads.push_back({layer, model.layers[layer].heads.size() - 1});
    }
  }
  return heads;
}

MatrixBuffer last_logits(const Model& model, const ModelInput& input) {
  OutputRows last(model, input.size() - 1, 1);
  run(model, input, {}, static_cast<RunObserver&>(last));
  return run_output_head(model, last.rows(), 1);
}

// In front of the cap.
double uncapped(const Model& model, double logit) {
  const auto cap = static_cast<double>(model.head.soft_cap);
  return cap == 0.0 ? logit : cap * std::atanh(logit / cap);
}

}  // namespace

TEST_CASE("families: a head that is followed step by step has the weights of the run") {
  for (const Case& one : all_cases()) {
    CAPTURE(one.name);
    const ModelInput input = one.ids.view();
    std::vector<HeadId> heads = some_heads(one.model);
    std::ranges::sort(heads);
    PatternStore store(heads, input.size());
    run(one.model, input, {}, static_cast<PatternSink&>(store));
    const std::size_t query = input.size() - 2;
    const auto followed = inspect_heads(one.model, input, {}, heads, query, /*all_queries=*/true);
    REQUIRE(followed.size() == heads.size());
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const ConstMatrix weights = store.pattern(heads[i]);
      for (std::size_t key = 0; key < input.size(); ++key) {
        CHECK(followed[i].weights[key] == doctest::Approx(weights(query, key)).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("families: the parts of a logit add up to it") {
  std::size_t n_split = 0;
  for (const Case& one : all_cases()) {
    CAPTURE(one.name);
    if (one.model.head.unembedding.weight.empty() || !one.model.head.transform.weight.empty() ||
        one.model.altup.present() || one.model.config.order == LayerOrder::kPostNorm) {
      continue;
    }
    const ModelInput input = one.ids.view();
    const MatrixBuffer logits = last_logits(one.model, input);
    constexpr std::uint32_t kToken = 3;
    const std::vector<LogitDirection> directions = {logit_direction(one.model, kToken)};
    const Attribution found = attribute(one.model, one.text, {}, input.size() - 1, directions);
    const double expected = uncapped(one.model, static_cast<double>(logits.view()(0, kToken)));
    const double sum = std::accumulate(
        found.parts.begin(), found.parts.end(), 0.0,
        [](double so_far, const LogitPart& part) { return so_far + part.shares.front(); });
    CHECK(found.logits.front() == doctest::Approx(expected).epsilon(1e-4));
    CHECK(sum == doctest::Approx(expected).epsilon(1e-4));
    ++n_split;
  }
  CHECK(n_split >= 20);
}

TEST_CASE("families: the parts of a score add up to it") {
  std::size_t n_split = 0;
  for (const Case& one : all_cases()) {
    CAPTURE(one.name);
    for (const HeadId head : some_heads(one.model)) {
      CAPTURE(head.layer);
      const std::size_t query = one.text.size() - 1;
      if (one.model.config.order == LayerOrder::kPostNorm || one.model.altup.present() ||
          one.model.layers[head.layer].keys_from) {
        CHECK_THROWS_AS(split_score(one.model, one.text, {}, head, query, query - 1), Error);
        continue;
      }
      const ScoreSplit split = split_score(one.model, one.text, {}, head, query, query - 1);
      const double sum =
          std::accumulate(split.products.begin(), split.products.end(), 0.0) + split.position_bias;
      const auto followed =
          inspect_heads(one.model, one.ids.view(), {}, std::span(&head, 1), query, false);
      double expected = static_cast<double>(followed.front().scaled[query - 1]);
      expected += followed.front().bias.empty()
                      ? 0.0
                      : static_cast<double>(followed.front().bias[query - 1]);
      CHECK(split.score == doctest::Approx(expected).epsilon(1e-4));
      CHECK(sum == doctest::Approx(expected).epsilon(1e-3));
      ++n_split;
    }
  }
  CHECK(n_split >= 40);
}

TEST_CASE("families: removing a head changes the output as a run without that head does") {
  for (const Case& one : all_cases()) {
    CAPTURE(one.name);
    if (one.model.head.unembedding.weight.empty()) {
      continue;
    }
    constexpr std::uint32_t kTarget = 2;
    const ModelInput input = one.ids.view();
    const AblatedPart parts[] = {AblatedPart::kHeads};
    const auto effects = ablate_each(one.model, one.text, {}, kTarget, parts, /*by_mean=*/false);
    const auto log_probability = [&](const Interventions& without) {
      AttentionRequest request;
      request.interventions = std::make_shared<const Interventions>(without);
      OutputRows last(one.model, input.size() - 1, 1);
      run(one.model, input, request, static_cast<RunObserver&>(last));
      const MatrixBuffer logits = run_output_head(one.model, last.rows(), 1);
      double sum = 0.0;
      for (const float logit : logits.view().row(0)) {
        sum += std::exp(static_cast<double>(logit));
      }
      return static_cast<double>(logits.view()(0, kTarget)) - std::log(sum);
    };
    const double before = log_probability({});
    for (const std::size_t index : {std::size_t{0}, effects.size() / 2, effects.size() - 1}) {
      const double after = log_probability({{effects[index].what}, {}});
      CHECK(std::abs(effects[index].change.log_probability - (after - before)) < 1e-4);
    }
  }
}

}  // namespace attnviz
