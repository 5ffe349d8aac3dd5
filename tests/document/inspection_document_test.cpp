#include "attnviz/document/steps/inspection_document.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/document/steps/step_table.h"
#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using Step = InspectionStep;
using Steps = std::vector<Step>;

ShownKeys keys_of(std::size_t n_tokens, std::size_t query, const char* mask, bool all = false) {
  AttentionRequest request;
  request.mask = parse_mask(mask);
  const test::SampleInspection sample(test::random_head(n_tokens), test::numbered_tokens(n_tokens),
                                      query, request);
  return shown_keys(sample.head(), all);
}

}  // namespace

TEST_CASE("steps are named one by one or in lists, in the order of the textbook") {
  CHECK(parse_inspection_steps("--step", "softmax") == Steps{Step::kSoftmax});
  CHECK(parse_inspection_steps("--step", "values,x,values") == Steps{Step::kX, Step::kValues});
  CHECK(parse_inspection_steps("--step", "q,k,v,weights") ==
        Steps{Step::kQuery, Step::kKeys, Step::kSoftmax, Step::kValues});
  for (const std::string& name : inspection_step_names()) {
    CHECK(parse_inspection_steps("--step", name).size() == 1);
  }
}

TEST_CASE("each step has one row, and rows stand in the order of the steps") {
  std::size_t n = 0;
  for (const StepDefinition& step : step_definitions()) {
    CHECK(static_cast<std::size_t>(step.step) == n++);
  }
  CHECK(n == static_cast<std::size_t>(Step::kResidual) + 1);
}

TEST_CASE("a step's other name stands behind it in the list for a help text") {
  CHECK(inspection_step_list() ==
        "x, norm, latents, query (q), keys (k), qk-norm, rope, scores, scale, cap, mask, softmax "
        "(weights), values (v), context, output, residual");
}

TEST_CASE("a step that there is not is told with those there are") {
  CHECK_THROWS_WITH_AS(
      parse_inspection_steps("--step", "x,sotfmax"),
      "--step: expected x, norm, latents, query, keys, qk-norm, rope, scores, scale, cap, mask, "
      "softmax, values, context, output, residual, found \"sotfmax\" (did you mean \"softmax\"?)",
      Error);
  CHECK_THROWS_AS(parse_inspection_steps("--step", ""), Error);
}

TEST_CASE("the last shown column of the table of keys ends it") {
  const test::SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  InspectionPage page;
  CHECK(page.ends_key_table(sample.head(), Step::kSoftmax));
  CHECK_FALSE(page.ends_key_table(sample.head(), Step::kScores));
  CHECK_FALSE(page.ends_key_table(sample.head(), Step::kValues));
  page.steps = {Step::kScores, Step::kScale, Step::kCap, Step::kValues};
  CHECK(page.ends_key_table(sample.head(), Step::kScale));  // there is no cap
  CHECK_FALSE(page.ends_key_table(sample.head(), Step::kScores));
  const test::SampleInspection capped(test::whole_layer(3), test::numbered_tokens(3), 2);
  CHECK_FALSE(page.ends_key_table(capped.head(), Step::kScale));
  CHECK(page.ends_key_table(capped.head(), Step::kCap));
}

TEST_CASE("a head takes the steps that its model has") {
  const auto steps = [](const Model& model) {
    const test::SampleInspection sample(model, test::numbered_tokens(3), 2);
    std::string names;
    for (const StepDefinition& step : step_definitions()) {
      names += has_step(sample.head(), step.step) ? std::string(step.name) + ' ' : "";
    }
    return names;
  };
  CHECK(steps(test::random_head(3)) ==
        "x query keys scores scale mask softmax values context output residual ");
  CHECK(steps(test::random_head(3, Positions::kRope)) ==
        "x query keys rope scores scale mask softmax values context output residual ");
  CHECK(steps(test::whole_layer(3)) ==
        "x norm query keys qk-norm rope scores scale cap mask softmax values context output "
        "residual ");
}

TEST_CASE("of few tokens every key is shown, masked ones too") {
  const ShownKeys shown = keys_of(5, 2, "causal");
  CHECK(shown.keys == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(shown.masked_before == 0);
  CHECK(shown.masked_after == 0);
  CHECK(shown.left_out == 0);
}

TEST_CASE("of more tokens the visible keys are shown and the masked ones counted") {
  const ShownKeys shown = keys_of(40, 30, "window:4");
  CHECK(shown.keys == std::vector<std::size_t>{27, 28, 29, 30});
  CHECK(shown.masked_before == 27);
  CHECK(shown.masked_after == 9);
}

TEST_CASE("of many visible keys those with the most weight are shown, and the query") {
  AttentionRequest request;
  request.mask = parse_mask("none");
  const test::SampleInspection sample(test::random_head(100), test::numbered_tokens(100), 60,
                                      request);
  const ShownKeys shown = shown_keys(sample.head(), false);
  CHECK(shown.keys.size() == 24);
  CHECK(shown.left_out == 76);
  CHECK(std::is_sorted(shown.keys.begin(), shown.keys.end()));
  CHECK(std::count(shown.keys.begin(), shown.keys.end(), 60u) == 1);
  const std::vector<float>& weights = sample.head().weights;
  float least = 1.0f;
  for (const std::size_t key : shown.keys) {
    least = key == 60 ? least : std::min(least, weights[key]);
  }
  CHECK(std::count_if(weights.begin(), weights.end(), [&](float w) { return w > least; }) <= 24);
}

TEST_CASE("every key is shown when all are asked for") {
  CHECK(keys_of(100, 60, "causal", true).keys.size() == 100);
}

}  // namespace attnviz
