#include "attnviz/report/attention_heatmap.h"

#include <doctest/doctest.h>

#include <vector>

#include "attnviz/core/error.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("drawing choice: the range follows from the data only if it is automatic") {
  DrawingRequest request;
  CHECK_FALSE(needs_values(request));
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.3f}).scale.high == 1.0f);
  CHECK(choose_drawing(request, 0.75f, {0.0f, 0.3f}).scale.high == 4.0f);

  request.automatic_range = true;
  CHECK(needs_values(request));
  CHECK(choose_drawing(request, 0.5f, {0.0f, 0.3f}).scale.high == 0.3f);
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.0f}).scale.high == 1.0f);
  const Drawing with_negative = choose_drawing(request, 0.0f, {-2.0f, 0.5f});
  CHECK(with_negative.scale.low == -2.0f);
  CHECK(with_negative.scale.high == 2.0f);

  request.scale = ScaleKind::kLog;
  CHECK(needs_values(request));
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.5f}).scale.low == 0.0005f);
  CHECK(choose_drawing(request, 0.0f, {-1.0f, 0.0f}).scale.low == 0.001f);

  request.scale = ScaleKind::kRowMax;
  CHECK_FALSE(needs_values(request));
  request.scale.reset();
  request.range = ValueRange{0.1f, 0.2f};
  CHECK_FALSE(needs_values(request));
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.9f}).scale.low == 0.1f);
}

TEST_CASE("drawing choice: added tokens and the first key are not left out together") {
  DrawingRequest request;
  request.no_special = true;
  CHECK(choose_drawing(request, 0.0f, {}).no_special);
  request.drop_sink = true;
  CHECK_THROWS_WITH_AS(
      choose_drawing(request, 0.0f, {}),
      "no_special keeps rows unchanged and drop_sink rescales them: use only one of the two",
      Error);
  AttentionDocument document;
  document.drawing.drop_sink = true;  // as a file may contain it
  request.drop_sink = false;
  CHECK_THROWS_AS(changed_drawing(request, document), Error);
}

TEST_CASE(
    "drawing choice: a document's added tokens stay left out, rows and columns as requested") {
  AttentionDocument document;
  document.drawing.no_special = true;
  DrawingRequest request;
  CHECK(changed_drawing(request, document).no_special);
  CHECK_FALSE(changed_drawing(request, document).transposed);
  CHECK_FALSE(changed_drawing(request, document).plain_labels);
  request.transposed = request.plain_labels = true;
  CHECK(changed_drawing(request, document).transposed);
  CHECK(changed_drawing(request, document).plain_labels);
  document.drawing.transposed = document.drawing.plain_labels = true;
  CHECK(changed_drawing({}, document).transposed);
  CHECK(changed_drawing({}, document).plain_labels);
}

TEST_CASE("drawing choice: an automatic range covers the tokens that are drawn") {
  const std::vector<float> weights = {1.0f, 0.0f, 0.0f, 0.75f, 0.25f, 0.0f, 0.5f, 0.125f, 0.375f};
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"<s>", "a", "b"};
  document.patterns = {{{0, 0}, test::matrix_over(weights, 3, 3)}};
  document.marks.added = {0};
  DrawingRequest request;
  request.automatic_range = true;
  CHECK(choose_drawing(request, document).scale.high == 1.0f);
  request.no_special = true;
  CHECK(choose_drawing(request, document).scale.high == 0.375f);
  document.key_tokens = {"x", "y", "z"};  // keys of another text: all are drawn
  CHECK(choose_drawing(request, document).scale.high == 0.75f);
}

TEST_CASE("drawing choice: an automatic range without the sink ends at the largest scaled weight") {
  // Without the first key: 0.25 of 0.25 + 0.375; 0.125 of 0.125 + 0.25.
  const std::vector<float> weights = {0.375f, 0.25f, 0.375f, 0.625f, 0.125f, 0.25f};
  AttentionDocument document;
  document.query_tokens = {"a", "b"};
  document.key_tokens = {"x", "y", "z"};
  document.patterns = {{{0, 0}, test::matrix_over(weights, 2, 3)}};
  DrawingRequest request;
  request.automatic_range = true;
  CHECK(choose_drawing(request, document).scale.high == 0.625f);
  request.drop_sink = true;
  CHECK(choose_drawing(request, document).scale.high == static_cast<float>(0.25 / 0.375));
}

}  // namespace attnviz
