#include "attnviz/analysis/largest_weight.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_store.h"
#include "support/model_builder.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("largest weight: that of the wanted heads, whatever the mask and the threads") {
  constexpr std::size_t kTokens = 300;
  test::ModelBuilder builder(kTokens, 8);
  builder.add_layer({{8, 8}, {8, 8}, {8, 8}, {8, 8}});
  for (const char* mask : {"causal", "none", "window:20"}) {
    for (const std::size_t n_threads : {1u, 3u}) {
      AttentionRequest request;
      request.mask = parse_mask(mask);
      request.n_threads = n_threads;
      request.temperature = 3.0f;
      const std::vector<HeadId> heads = {{0, 1}, {0, 2}};
      PatternStore patterns(heads, kTokens);
      LargestWeight largest(heads);
      CHECK(largest.value() == 0.0f);
      run(builder.model, test::Pieces(kTokens), request, patterns);
      run(builder.model, test::Pieces(kTokens), request, largest);
      float expected = 0.0f;
      for (const HeadId head : heads) {
        const ConstMatrix pattern = patterns.pattern(head);
        for (std::size_t query = 0; query < kTokens; ++query) {
          for (const float weight : pattern.row(query)) {
            expected = std::max(expected, weight);
          }
        }
      }
      CHECK(largest.value() == expected);
    }
  }
  CHECK_FALSE(LargestWeight({{0, 1}}).wants({0, 0}));
}

TEST_CASE("largest weight: without the first key, of what is left of each row") {
  const std::vector<float> weights = {0.375f, 0.25f, 0.375f, 0.625f, 0.125f, 0.25f};
  const std::vector<float> whole = {1.0f, 0.0f, 0.0f};
  LargestWeight largest({{0, 0}}, /*drop_first_key=*/true);
  largest.rows({0, 0}, 0, 0, test::matrix_over(weights, 2, 3));
  CHECK(largest.value() == static_cast<float>(0.25 / 0.375));
  largest.rows({0, 0}, 3, 5, test::matrix_over(weights, 1, 3));  // keys from 5 on: all count
  CHECK(largest.value() == static_cast<float>(0.25 / 0.375));
  largest.rows({0, 0}, 4, 5, test::matrix_over(whole, 1, 3));
  CHECK(largest.value() == 1.0f);
}

}  // namespace attnviz
