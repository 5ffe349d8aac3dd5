#include "attnviz/document/inspection_rows.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using Texts = std::vector<std::string>;

Texts labels(const std::vector<VectorRow>& rows) {
  Texts texts;
  for (const VectorRow& row : rows) {
    texts.push_back(row.label);
  }
  return texts;
}

}  // namespace

TEST_CASE("residual_rows: what is added stands below x, the result last") {
  const test::SampleInspection by_hand(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  CHECK(labels(residual_rows(by_hand.head())) == Texts{"  x", "+ output", "= result"});

  const test::SampleInspection biased(test::random_head(3), test::numbered_tokens(3), 1);
  const auto rows = residual_rows(biased.head());
  CHECK(labels(rows) == Texts{"  x", "+ output", "+ b_O", "= result"});
  for (std::size_t i = 0; i < rows.front().values.size(); ++i) {
    const float sum = rows[0].values[i] + rows[1].values[i] + rows[2].values[i];
    CHECK(rows[3].values[i] == doctest::Approx(sum));
  }
}

TEST_CASE("residual_rows: a norm of what is added stands between the sum and x") {
  const test::SampleInspection sample(test::whole_layer(4), test::numbered_tokens(4), 3);
  const auto rows = residual_rows(sample.head());
  CHECK(labels(rows) ==
        Texts{"  output", "+ other heads", "= sum", "  its norm", "+ x", "= result"});
  for (std::size_t i = 0; i < rows.front().values.size(); ++i) {
    CHECK(rows[2].values[i] == doctest::Approx(rows[0].values[i] + rows[1].values[i]));
    CHECK(rows[5].values[i] == doctest::Approx(rows[3].values[i] + rows[4].values[i]));
  }
}

TEST_CASE("norm rows: before, weights, behind") {
  const test::SampleInspection sample(test::whole_layer(4), test::numbered_tokens(4), 3);
  CHECK(labels(look_rows(sample.head(), "t3")) == Texts{"x t3", "w", "y t3"});
  CHECK(labels(query_norm_rows(sample.head())) == Texts{"q before", "w", "q after"});
  CHECK(labels(turned_rows(sample.head())) == Texts{"q before", "q after"});
}

TEST_CASE("key_rows: the shown keys, with their index and their vector") {
  const test::SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  ShownKeys shown;
  shown.keys = {1, 2};
  const auto rows = key_rows(sample.head().k.view(), TokenNames(sample.page.tokens, false), shown);
  CHECK(labels(rows) == Texts{"k 1 cat", "k 2 sat"});
  CHECK(std::vector(rows[0].values.begin(), rows[0].values.end()) ==
        std::vector{1.0f, 0.0f, 0.0f, 1.0f});
}

}  // namespace attnviz
