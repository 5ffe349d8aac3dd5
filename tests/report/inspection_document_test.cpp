#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/report/steps/step_table.h"
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

TEST_CASE("steps are selected one by one or in lists, in the order of the textbook") {
  CHECK(parse_inspection_steps("--step", "softmax") == Steps{Step::kSoftmax});
  CHECK(parse_inspection_steps("--step", "values,x,values") == Steps{Step::kX, Step::kValues});
  CHECK(parse_inspection_steps("--step", "q,k,v,weights") ==
        Steps{Step::kQuery, Step::kKeys, Step::kSoftmax, Step::kValues});
  for (const std::string& name : inspection_step_names()) {
    CHECK(parse_inspection_steps("--step", name).size() == 1);
  }
}

TEST_CASE("each step has one row, and rows are in the order of the steps") {
  std::size_t n = 0;
  for (const StepDefinition& step : step_definitions()) {
    CHECK(static_cast<std::size_t>(step.step) == n++);
  }
  CHECK(n == static_cast<std::size_t>(Step::kResidual) + 1);
}

TEST_CASE("a step's alternative name comes after it in the list for a help text") {
  CHECK(inspection_step_list() ==
        "x, norm, latents, query (q), keys (k), qk-norm, rope, scores, scale, cap, mask, softmax "
        "(weights), values (v), context, output, residual");
}

TEST_CASE("an unknown step is reported with the known ones") {
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

TEST_CASE("a head has the steps of its model") {
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

TEST_CASE("with few tokens every key is shown, including masked ones") {
  const ShownKeys shown = keys_of(5, 2, "causal");
  CHECK(shown.keys == std::vector<std::size_t>{0, 1, 2, 3, 4});
  CHECK(shown.masked_before == 0);
  CHECK(shown.masked_after == 0);
  CHECK(shown.left_out == 0);
}

TEST_CASE("with more tokens the visible keys are shown and the masked ones counted") {
  const ShownKeys shown = keys_of(40, 30, "window:4");
  CHECK(shown.keys == std::vector<std::size_t>{27, 28, 29, 30});
  CHECK(shown.masked_before == 27);
  CHECK(shown.masked_after == 9);
}

TEST_CASE("with many visible keys those with the most weight are shown, and the query") {
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

TEST_CASE("every key is shown on request") {
  CHECK(keys_of(100, 60, "causal", true).keys.size() == 100);
}

TEST_CASE("batch_shape: two heads of 6 dimensions that share keys and values, 3 tokens") {
  const test::SampleInspection sample(test::whole_layer(3), test::numbered_tokens(3), 2, {},
                                      {{0, 1}});
  const Inspection& head = sample.head();
  CHECK(batch_shape(head, Step::kX) == "[1, 3, 8]");
  CHECK(batch_shape(head, Step::kQuery) == "[1, 3, 8] · [8, 2 · 6] → [1, 2, 3, 6]");
  CHECK(batch_shape(head, Step::kKeys) == "[1, 3, 8] · [8, 1 · 6] → [1, 1, 3, 6]");
  CHECK(batch_shape(head, Step::kScores) == "[1, 2, 3, 6] · [1, 2, 6, 3] → [1, 2, 3, 3]");
  CHECK(batch_shape(head, Step::kSoftmax) == "[1, 2, 3, 3]");
  CHECK(batch_sentence(head, Step::kQuery) ==
        "All heads at once: W_Q holds 2 heads side by side; this head's part is columns 6 to 11.");
  CHECK(batch_sentence(head, Step::kScores) ==
        "The keys are those of 1 head, repeated for the 2 heads that share them.");
  CHECK(batch_sentence(head, Step::kRope).empty());
}

TEST_CASE("batch_shape: values of another width, and W_O after the concatenation") {
  const test::SampleInspection sample(test::model_by_hand(), {"The", " cat", " sat"}, 2);
  const Inspection& head = sample.head();
  CHECK(batch_shape(head, Step::kValues) == "[1, 3, 3] · [3, 1 · 2] → [1, 1, 3, 2]");
  CHECK(batch_shape(head, Step::kContext) == "[1, 1, 3, 3] · [1, 1, 3, 2] → [1, 1, 3, 2]");
  CHECK(batch_shape(head, Step::kOutput) == "[1, 1, 3, 2] → [1, 3, 2] · [2, 3] → [1, 3, 3]");
}

namespace {

using Texts = std::vector<std::string>;

std::vector<VectorRow> rows_of(const test::SampleInspection& sample, Step step,
                               std::size_t block = 0) {
  return std::get<VectorBlock>(test::inspected_step(sample, step).blocks.at(block)).rows;
}

Texts labels(const std::vector<VectorRow>& rows) {
  Texts texts;
  for (const VectorRow& row : rows) {
    texts.push_back(row.label);
  }
  return texts;
}

}  // namespace

TEST_CASE("rows of the residual step: the terms come below x, the result last") {
  const test::SampleInspection by_hand(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  CHECK(labels(rows_of(by_hand, Step::kResidual)) == Texts{"  x", "+ output", "= result"});

  const test::SampleInspection biased(test::random_head(3), test::numbered_tokens(3), 1);
  const auto rows = rows_of(biased, Step::kResidual);
  CHECK(labels(rows) == Texts{"  x", "+ output", "+ b_O", "= result"});
  for (std::size_t i = 0; i < rows.front().values.size(); ++i) {
    const float sum = rows[0].values[i] + rows[1].values[i] + rows[2].values[i];
    CHECK(rows[3].values[i] == doctest::Approx(sum));
  }
}

TEST_CASE("rows of the residual step: a norm of the output comes between the sum and x") {
  const test::SampleInspection sample(test::whole_layer(4), test::numbered_tokens(4), 3);
  const auto rows = rows_of(sample, Step::kResidual);
  CHECK(labels(rows) ==
        Texts{"  output", "+ other heads", "= sum", "  its norm", "+ x", "= result"});
  for (std::size_t i = 0; i < rows.front().values.size(); ++i) {
    CHECK(rows[2].values[i] == doctest::Approx(rows[0].values[i] + rows[1].values[i]));
    CHECK(rows[5].values[i] == doctest::Approx(rows[3].values[i] + rows[4].values[i]));
  }
}

TEST_CASE("rows of norms: before, weights, after") {
  const test::SampleInspection sample(test::whole_layer(4), test::numbered_tokens(4), 3);
  CHECK(labels(rows_of(sample, Step::kNorm)) == Texts{"x t3", "w", "y t3"});
  CHECK(labels(rows_of(sample, Step::kQueryKeyNorm)) == Texts{"q before", "w", "q after"});
  CHECK(labels(rows_of(sample, Step::kQueryKeyNorm, 1)) == Texts{"w of k"});
}

TEST_CASE("rows of a rotation as colours: the angles, the query before and after it, the keys") {
  const test::SampleInspection sample(test::whole_layer(2), test::numbered_tokens(2), 1);
  const InspectionDocument document =
      inspection_document(sample.page, InspectionDetail::kColored, /*ascii=*/false);
  std::vector<Texts> blocks;
  for (const InspectedStep& step : document.heads.front().steps) {
    for (const InspectionBlock& block : step.blocks) {
      const auto* vectors = std::get_if<VectorBlock>(&block);
      if (step.formula.starts_with("q rotated") && vectors != nullptr) {
        blocks.push_back(labels(vectors->rows));
      }
    }
  }
  CHECK(blocks ==
        std::vector<Texts>{{"angle, −π to π"}, {"q before", "q after"}, {"k 0 t0", "k 1 t1"}});
}

TEST_CASE("rows of keys: the shown keys, with their index and their vector") {
  const test::SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  const auto rows = rows_of(sample, Step::kKeys);
  CHECK(labels(rows) == Texts{"k 0 The", "k 1 cat", "k 2 sat"});
  CHECK(std::vector(rows[1].values.begin(), rows[1].values.end()) ==
        std::vector{1.0f, 0.0f, 0.0f, 1.0f});
}

TEST_CASE("steps of the table of keys: the table comes with the last step, the others lead to it") {
  const test::SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  const InspectionDocument document =
      inspection_document(sample.page, InspectionDetail::kWritten, /*ascii=*/false);
  Texts headings;
  std::size_t n_go_on = 0;
  for (const InspectedStep& step : document.heads.front().steps) {
    n_go_on += step.goes_on ? 1u : 0u;
    CHECK(step.blocks.empty() == step.goes_on);
    for (const InspectionBlock& block : step.blocks) {
      if (const auto* table = std::get_if<TableBlock>(&block)) {
        for (const TableColumn& column : table->columns) {
          headings.push_back(column.heading);
        }
        CHECK(table->bars.size() == 3);
        CHECK(table->bar_end >= 0.576);  // the largest weight
      }
    }
  }
  CHECK(n_go_on == 3);  // scores, scale, mask; there is no cap
  CHECK(headings == Texts{"q · k", "÷ √d", "masked", "exp(s − max)", "weight"});
}

TEST_CASE(
    "table of keys: with a cap the temperature's column comes after it, for any choice of steps") {
  AttentionRequest request;
  request.temperature = 0.5f;
  test::SampleInspection sample(test::whole_layer(2), test::numbered_tokens(2), 1, request);
  sample.page.steps = {Step::kCap};
  for (const InspectionDetail detail : {InspectionDetail::kWritten, InspectionDetail::kColored}) {
    const InspectionDocument document = inspection_document(sample.page, detail, /*ascii=*/false);
    const auto& table = std::get<TableBlock>(document.heads.front().steps.front().blocks.front());
    CHECK(table.columns.back().heading == "÷ T");
  }
}

}  // namespace attnviz
