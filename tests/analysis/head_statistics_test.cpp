#include "attnviz/analysis/head_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "attnviz/attention/engine.h"
#include "support/model_builder.h"

namespace attnviz {

namespace {

HeadSummary summary_of(const std::vector<float>& weights, std::size_t n_tokens) {
  const HeadId head{2, 1};
  HeadStatistics statistics({head}, n_tokens);
  statistics.rows(head, 0, 0, {weights.data(), n_tokens, n_tokens, n_tokens});
  return statistics.summary(head);
}

}  // namespace

TEST_CASE("head statistics: a head that looks at the previous token") {
  const HeadSummary head = summary_of({1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, 4);
  CHECK(head.entropy == 0.0);
  CHECK(head.previous == 0.75);
  CHECK(head.self == 0.25);
  CHECK(head.first == 0.5);
  CHECK(head.distance == 0.75);
}

TEST_CASE("head statistics: a head that looks at everything alike, and a query that sees nothing") {
  const HeadSummary flat = summary_of({.25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f,
                                       .25f, .25f, .25f, .25f, .25f, .25f},
                                      4);
  CHECK(flat.entropy == 2.0);
  CHECK(flat.first == 0.25);
  CHECK(flat.previous == doctest::Approx(3.0 / 16.0));
  CHECK(flat.distance == doctest::Approx(20.0 / 16.0));  // 0 + 1 + 2 + 3 and so on, a quarter each
  const HeadSummary half = summary_of({0, 0, 0.5f, 0.5f}, 2);
  CHECK(half.entropy == 0.5);
  CHECK(half.self == 0.25);
}

TEST_CASE("head statistics: keys that are not handed over have no weight, threads change nothing") {
  constexpr std::size_t kTokens = 400;
  test::ModelBuilder builder(kTokens, 8);
  builder.add_layer({{8, 8}, {8, 8}});
  const HeadId head{0, 1};
  AttentionRequest request;
  request.mask = parse_mask("window:2");
  std::vector<HeadSummary> summaries;
  for (const std::size_t n_threads : {1u, 4u}) {
    request.n_threads = n_threads;
    HeadStatistics statistics({head}, kTokens);
    run(builder.model, test::Pieces(kTokens), request, statistics);
    summaries.push_back(statistics.summary(head));
  }
  const HeadSummary& one = summaries[0];
  CHECK(one.self + one.previous == doctest::Approx(1.0).epsilon(1e-6));
  CHECK(one.distance == doctest::Approx(one.previous).epsilon(1e-6));
  CHECK(one.entropy > 0.0);
  CHECK(one.entropy <= 1.0);
  CHECK(summaries[1].entropy == one.entropy);
  CHECK(summaries[1].distance == one.distance);
}

}  // namespace attnviz
