// The logit lens and direct attribution, against an independent float64 implementation.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/why/attribution.h"
#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::text_of;

std::string name_of(const LensPoint& point, std::size_t n_layers) {
  return point.step == LayerStep::kBefore   ? "before layer " + std::to_string(point.layer)
         : point.step == LayerStep::kMiddle ? "after attention " + std::to_string(point.layer)
                                            : "after layer " + std::to_string(n_layers - 1);
}

std::string name_of(const LogitPart& part) {
  const std::string layer = std::to_string(part.layer);
  switch (part.kind) {
    case LogitPartKind::kEmbedding:
      return "embedding";
    case LogitPartKind::kPosition:
      return "position";
    case LogitPartKind::kHead:
      return layer + "." + std::to_string(part.head);
    case LogitPartKind::kOutputBias:
      return "b_O " + layer;
    case LogitPartKind::kMlp:
      return "MLP " + layer;
    case LogitPartKind::kNormBias:
      return "norm bias";
    default:
      return "logit bias";
  }
}

}  // namespace

TEST_CASE("logit lens: probabilities and ranks agree with float64 numbers, at every point") {
  for (const test::WhyCase& one : test::why_cases()) {
    CAPTURE(one.numbers["model"].dump());
    const std::uint32_t target = one.numbers["target"];
    const std::vector<LensPoint> points =
        logit_lens(one.model, text_of(one.ids), {}, one.ids.size() - 1, target, 5);
    const json& expected = one.numbers["lens"];
    REQUIRE(points.size() == expected.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      CAPTURE(expected[i]["point"].get<std::string>());
      if (i + 1 < points.size()) {
        CHECK(name_of(points[i], one.model.n_layers()) == expected[i]["point"].get<std::string>());
      }
      test::check_why(points[i].target_log_probability, expected[i]["target_logprob"]);
      CHECK(points[i].target_rank == expected[i]["target_rank"].get<std::size_t>());
      for (std::size_t k = 0; k < expected[i]["top"].size(); ++k) {
        CHECK(points[i].top[k].id == expected[i]["top"][k][0].get<std::uint32_t>());
        test::check_why(std::log(points[i].top[k].probability), expected[i]["top"][k][1]);
      }
    }
  }
}

TEST_CASE("attribution: parts agree with float64 numbers, and sum to the logit") {
  for (const test::WhyCase& one : test::why_cases()) {
    CAPTURE(one.numbers["model"].dump());
    const LogitDirection target = logit_direction(one.model, one.numbers["target"]);
    const LogitDirection against = logit_direction(one.model, one.numbers["against"]);
    const std::vector<LogitDirection> directions = {target, target - against,
                                                    target - mean_logit_direction(one.model)};
    const Attribution found =
        attribute(one.model, text_of(one.ids), {}, one.ids.size() - 1, directions);
    const json& expected = one.numbers["dla"];
    REQUIRE(found.parts.size() == expected["parts"].size());
    constexpr const char* kNames[] = {"target", "target_minus_against", "target_centred"};
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
      CAPTURE(kNames[direction]);
      double sum = 0.0;
      for (std::size_t i = 0; i < found.parts.size(); ++i) {
        CHECK(name_of(found.parts[i]) == expected["parts"][i].get<std::string>());
        sum += found.parts[i].shares[direction];
        test::check_why(found.parts[i].shares[direction], expected[kNames[direction]][i]);
      }
      test::check_why(sum, expected["sums"][direction]);
      test::check_why(found.logits[direction], sum);
    }
    for (const LogitPart& part : found.parts) {
      if (part.kind != LogitPartKind::kHead) {
        continue;
      }
      if (expected.contains("bias_share") && !expected["bias_share"].is_null()) {
        test::check_why(part.bias_share, expected["bias_share"][part.layer][part.head]);
      }
      test::check_why(std::accumulate(part.by_key.begin(), part.by_key.end(), 0.0),
                      part.shares.front());
      if (const auto keys = expected["by_key"].find(name_of(part));
          keys != expected["by_key"].end()) {
        for (std::size_t key = 0; key < keys->size(); ++key) {
          test::check_why(part.by_key[key], (*keys)[key]);
        }
      }
    }
  }
}

TEST_CASE("attribution: a value's bias counts for the share that a learned sink leaves to keys") {
  test::ModelBuilder builder(2, 2);
  builder.add_layer({{2, 2}});
  Model& model = builder.model;
  model.config.order = LayerOrder::kAttentionOnly;
  const ConstMatrix zeros = builder.keep({0, 0, 0, 0}, 2, 2);
  const ConstMatrix one = builder.keep({1, 0, 0, 1}, 2, 2);
  HeadWeights& head = model.layers[0].heads[0];
  head.query = head.key = {zeros, {}};
  head.value = {zeros, builder.keep({3, 0})};
  model.layers[0].sinks = builder.keep({std::log(2.0f)});  // exp: 1, 1 and 2 of the sink
  model.embeddings = one;
  model.head.unembedding = {one, {}};
  const std::vector<LogitDirection> directions = {logit_direction(model, 0)};
  AttentionRequest request;
  const auto part = [&] {
    const Attribution found = attribute(model, text_of({1, 1}), request, 1, directions);
    const auto of_head = std::ranges::find(found.parts, LogitPartKind::kHead, &LogitPart::kind);
    REQUIRE(of_head != found.parts.end());
    return *of_head;
  };
  CHECK(part().shares.front() == doctest::Approx(1.5));
  CHECK(part().bias_share == doctest::Approx(1.5));
  REQUIRE(part().by_key.size() == 2);
  CHECK(part().by_key[0] == doctest::Approx(0.75).epsilon(1e-6));
  CHECK(part().by_key[1] == doctest::Approx(0.75).epsilon(1e-6));

  for (const bool by_mean : {false, true}) {
    request.interventions =
        std::make_shared<const Interventions>(Interventions{{{0, 0, false, by_mean}}, {}});
    CHECK(part().shares.front() == doctest::Approx(by_mean ? (1.0 + 1.5) / 2 : 0.0));
    CHECK(part().bias_share == 0.0);
    CHECK(part().by_key.empty());
  }
}

TEST_CASE("attribution and lens: impossible requests are refused") {
  const Model demo = demo_model();
  const TokenizedText text = text_of({0, 5, 7});
  const std::vector<LogitDirection> directions = {logit_direction(demo, 5)};
  CHECK_THROWS_AS(attribute(demo, text, {}, 3, directions), Error);
  CHECK_THROWS_AS(logit_lens(demo, text, {}, 3, 5, 1), Error);
  CHECK_THROWS_AS(logit_lens(demo, text, {}, 2, 1000000, 1), Error);
  CHECK_THROWS_AS(logit_direction(demo, 1000000), Error);
  const Model bert = load_hugging_face(ATTNVIZ_SOURCE_DIR "/tests/reference/models/roberta-mlm");
  const std::vector<LogitDirection> of_bert = {logit_direction(bert, 5)};
  CHECK_THROWS_WITH_AS(attribute(bert, text, {}, 1, of_bert),
                       doctest::Contains("its layers end in norms"), Error);
}

}  // namespace attnviz
