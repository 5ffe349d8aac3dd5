#include "attnviz/analysis/token_roles.h"

#include <doctest/doctest.h>

#include <vector>

namespace attnviz {

TEST_CASE("TurnAttention: shares of turns over heads and queries, worked out by hand") {
  TokenizedText text{"<s>AAB", {}};
  text.turns = {{0, 3, 5, "user"}};
  text.tokens = {{1, "<s>", 0, 3, true}, {2, "A", 3, 4}, {2, "A", 4, 5}, {3, "B", 5, 6}};
  const FoldedText turns = folded(text, Fold::kTurns);
  REQUIRE(turns.text.size() == 3);
  TurnAttentionSink sink({{0, 0}, {1, 1}}, turns, 1.0f);
  CHECK(sink.wants({1, 1}));
  CHECK_FALSE(sink.wants({1, 0}));
  const std::vector<float> one = {1.0f, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 1, 0, 0, 0.5f, 0, 0.25, 0.25};
  const std::vector<float> other = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
  // In blocks, as runs deliver them.
  sink.rows({0, 0}, 2, 0, {one.data() + 8, 2, 4, 4});
  sink.rows({0, 0}, 0, 0, {one.data(), 2, 4, 4});
  sink.rows({1, 1}, 0, 0, {other.data(), 4, 4, 4});
  const TurnAttention shares = sink.take();
  // <s> gets 1 + 0.5 + 0 + 0.5 from the four queries of one head, and 3 from those of the other.
  const std::vector<double> mean = {(2.0 + 3.0) / 8, (0.5 + 1.0 + 0.25) / 8, (0.25 + 1.0) / 8};
  const std::vector<double> from_last = {0.25, 0.125, 0.625};
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(shares.mean[i] == doctest::Approx(mean[i]).epsilon(1e-7));
    CHECK(shares.from_last[i] == doctest::Approx(from_last[i]).epsilon(1e-7));
  }
}

}  // namespace attnviz
