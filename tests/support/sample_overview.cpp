#include "support/sample_overview.h"

#include "support/naive.h"

namespace attnviz::test {

SampleOverview::SampleOverview(std::size_t n_layers, std::size_t n_heads, std::size_t n_tokens,
                               Labels labels) {
  const SampleHeatmap words(n_tokens, 0, labels);
  document.query_tokens = document.key_tokens = words.heatmap.query_labels;
  document.run.mask = Mask{};
  document.model = ModelFacts{};
  document.model->name = "deep";
  values.reserve(n_layers * n_heads);
  document.patterns.reserve(n_layers * n_heads);
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    for (std::size_t head = 0; head < n_heads; ++head) {
      std::vector<float> weights(n_tokens * n_tokens);
      for (std::size_t query = 0; query < n_tokens; ++query) {
        const float far = layer == 1 && head == 1 ? 0.75f : 0.0f;
        weights[query * n_tokens] += 1.0f - far;
        weights[query * n_tokens + query / 2] += far;
      }
      values.push_back(std::move(weights));
      document.patterns.push_back({{layer, head}, matrix_over(values.back(), n_tokens, n_tokens)});
    }
  }
}

Overview SampleOverview::overview() const {
  return overview_of(document, most_informative_head(document).value());
}

}  // namespace attnviz::test
