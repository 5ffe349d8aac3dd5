#include "attnviz/document/steps/inspection_blocks.h"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using Step = InspectionStep;
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

TEST_CASE("rows of the residual step: what is added stands below x, the result last") {
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

TEST_CASE("rows of the residual step: a norm of what is added stands between the sum and x") {
  const test::SampleInspection sample(test::whole_layer(4), test::numbered_tokens(4), 3);
  const auto rows = rows_of(sample, Step::kResidual);
  CHECK(labels(rows) ==
        Texts{"  output", "+ other heads", "= sum", "  its norm", "+ x", "= result"});
  for (std::size_t i = 0; i < rows.front().values.size(); ++i) {
    CHECK(rows[2].values[i] == doctest::Approx(rows[0].values[i] + rows[1].values[i]));
    CHECK(rows[5].values[i] == doctest::Approx(rows[3].values[i] + rows[4].values[i]));
  }
}

TEST_CASE("rows of norms: before, weights, behind") {
  const test::SampleInspection sample(test::whole_layer(4), test::numbered_tokens(4), 3);
  CHECK(labels(rows_of(sample, Step::kNorm)) == Texts{"x t3", "w", "y t3"});
  CHECK(labels(rows_of(sample, Step::kQueryKeyNorm)) == Texts{"q before", "w", "q after"});
  CHECK(labels(rows_of(sample, Step::kQueryKeyNorm, 1)) == Texts{"w of k"});
}

TEST_CASE("rows of a rotation as colours: the angles, the query before and behind, the keys") {
  const test::SampleInspection sample(test::whole_layer(2), test::numbered_tokens(2), 1);
  const InspectionDocument document =
      inspection_document(sample.page, InspectionDetail::kColored, /*ascii=*/false);
  std::vector<Texts> blocks;
  for (const InspectedStep& step : document.heads.front().steps) {
    for (const InspectionBlock& block : step.blocks) {
      const auto* vectors = std::get_if<VectorBlock>(&block);
      if (step.formula.starts_with("q turned") && vectors != nullptr) {
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

TEST_CASE("steps of the table of keys: its columns stand at the last one, the others go on") {
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

TEST_CASE("table of keys: with a cap the temperature has a column behind it, whatever is shown") {
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
