// Models with several residual streams, only one of which layers compute with: Gemma 3n.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/why/attribution.h"
#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/reference_case.h"
#include "support/why_cases.h"

namespace attnviz {

namespace {

test::ReferenceCase gemma3n() {
  const std::filesystem::path folder = ATTNVIZ_SOURCE_DIR "/tests/reference/experts/gemma3n";
  return test::load_reference_case(folder / "expected.safetensors", load_hugging_face(folder));
}

// The stream of each layer at a step.
struct Streams : RunObserver {
  explicit Streams(LayerStep wanted) : step(wanted) {}
  bool wants(std::size_t /*layer*/, LayerStep at) const override { return at == step; }
  void stream(const RunPlace& /*at*/, ConstMatrix x) override { layers.push_back(copy_of(x)); }
  LayerStep step;
  std::vector<MatrixBuffer> layers;
};

double log_probability(const Model& model, const ModelInput& input, const Interventions& without,
                       std::uint32_t target) {
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(without);
  OutputRows last(model, input.size() - 1, 1);
  run(model, input, request, static_cast<RunObserver&>(last));
  const MatrixBuffer logits = run_output_head(model, last.rows(), 1);
  double sum = 0.0;
  for (const float logit : logits.view().row(0)) {
    sum += std::exp(static_cast<double>(logit));
  }
  return static_cast<double>(logits.view()(0, target)) - std::log(sum);
}

}  // namespace

TEST_CASE("streams: observers see the active one, and after the last layer the combined one") {
  const test::ReferenceCase one = gemma3n();
  for (const LayerStep step : {LayerStep::kBefore, LayerStep::kMiddle, LayerStep::kAfter}) {
    Streams seen(step);
    run(one.model, one.text.view(), {}, static_cast<RunObserver&>(seen));
    REQUIRE(seen.layers.size() == one.model.n_layers());
    for (const MatrixBuffer& stream : seen.layers) {
      CHECK(stream.rows() == one.text.ids.size());
      CHECK(stream.cols() == one.model.config.d_model);
    }
  }
}

TEST_CASE("streams: a head inspected step by step ends in the stream of the run") {
  const test::ReferenceCase one = gemma3n();
  const ModelInput input = one.text.view();
  Streams middles(LayerStep::kMiddle);
  run(one.model, input, {}, static_cast<RunObserver&>(middles));
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < one.model.n_layers(); ++layer) {
    heads.push_back({layer, layer % 4});
  }
  PatternStore store(heads, input.size());
  run(one.model, input, {}, static_cast<PatternSink&>(store));
  const std::size_t query = input.size() - 2;
  const auto followed = inspect_heads(one.model, input, {}, heads, query, /*all_queries=*/true);
  REQUIRE(followed.size() == heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Inspection& head = followed[i];
    const ConstMatrix weights = store.pattern(heads[i]);
    for (std::size_t key = 0; key < input.size(); ++key) {
      CHECK(head.weights[key] == doctest::Approx(weights(query, key)).epsilon(1e-4));
    }
    const std::span<const float> middle = middles.layers[heads[i].layer].view().row(query);
    REQUIRE(head.laurel.size() == head.d_model());
    for (std::size_t d = 0; d < head.d_model(); ++d) {
      const float sum = head.x()[d] + head.added[d] + head.laurel[d];
      CHECK(head.result[d] == doctest::Approx(middle[d]).epsilon(1e-4));
      CHECK(sum / std::numbers::sqrt2_v<float> == doctest::Approx(middle[d]).epsilon(1e-4));
    }
  }
}

TEST_CASE("streams: analyses that assume a single stream are refused") {
  const test::ReferenceCase one = gemma3n();
  const TokenizedText text = test::text_of(one.text.ids);
  const std::size_t last = text.size() - 1;
  const std::vector<LogitDirection> directions = {logit_direction(one.model, 3)};
  test::check_refused([&] { attribute(one.model, text, {}, last, directions); },
                      "4 residual streams");
  test::check_refused([&] { logit_lens(one.model, text, {}, last, 3, 1); }, "4 residual streams");
  test::check_refused(
      [&] {
        split_score(one.model, text, {}, {0, 0}, last, 0);
      },
      "4 residual streams");
}

TEST_CASE("streams: removing heads, MLPs and words has the effect of runs without them") {
  constexpr std::uint32_t kTarget = 12;
  const test::ReferenceCase one = gemma3n();
  const ModelInput input = one.text.view();
  const TokenizedText text = test::text_of(one.text.ids);
  const double before = log_probability(one.model, input, {}, kTarget);
  const AblatedPart parts[] = {AblatedPart::kHeads, AblatedPart::kMlps, AblatedPart::kLayers};
  const auto effects = ablate_each(one.model, text, {}, kTarget, parts, /*by_mean=*/false);
  CHECK(effects.size() == 5 * 4 + 5 + 5);
  for (const AblationEffect& effect : effects) {
    const double after = log_probability(one.model, input, {{effect.what}, {}}, kTarget);
    CHECK(effect.change.log_probability == doctest::Approx(after - before).epsilon(1e-3));
  }
  const std::vector<TokenSpan> spans = {{0, 1}, {2, 4}, {9, 10}};
  const auto lost = leave_one_out(one.model, text, {}, kTarget, spans);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const KnockOut cut{{spans[i].end}, {spans[i].begin, spans[i].end}, {}, {}};
    const double after = log_probability(one.model, input, {{}, {cut}}, kTarget);
    REQUIRE(lost[i]);
    CHECK(*lost[i] == doctest::Approx(after - before).epsilon(1e-3));
  }
}

}  // namespace attnviz
