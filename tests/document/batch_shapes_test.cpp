#include "attnviz/document/steps/batch_shapes.h"

#include <doctest/doctest.h>

#include "support/sample_inspection.h"

namespace attnviz {

using Step = InspectionStep;

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
        "All heads at once: W_Q is that of 2 heads side by side, this one's columns 6 to 11.");
  CHECK(batch_sentence(head, Step::kScores) ==
        "Keys are those of 1 head, repeated for the 2 heads that share them.");
  CHECK(batch_sentence(head, Step::kRope).empty());
}

TEST_CASE("batch_shape: values of another width, and W_O behind what is concatenated") {
  const test::SampleInspection sample(test::model_by_hand(), {"The", " cat", " sat"}, 2);
  const Inspection& head = sample.head();
  CHECK(batch_shape(head, Step::kValues) == "[1, 3, 3] · [3, 1 · 2] → [1, 1, 3, 2]");
  CHECK(batch_shape(head, Step::kContext) == "[1, 1, 3, 3] · [1, 1, 3, 2] → [1, 1, 3, 2]");
  CHECK(batch_shape(head, Step::kOutput) == "[1, 1, 3, 2] → [1, 3, 2] · [2, 3] → [1, 3, 3]");
}

}  // namespace attnviz
