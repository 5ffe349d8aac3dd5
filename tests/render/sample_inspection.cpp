#include "render/sample_inspection.h"

#include <fmt/core.h>

#include <utility>

namespace attnviz::test {

SampleInspection::SampleInspection(const Model& model, std::vector<std::string> tokens,
                                   std::size_t query, const AttentionRequest& request,
                                   std::vector<HeadId> heads)
    : model_(model), tokens_(std::move(tokens)) {
  page.title = "test";
  page.tokens.assign(tokens_.begin(), tokens_.end());
  heads_ = inspect_heads(model_, page.tokens, request, heads, query, /*all_queries=*/true);
  page.heads = heads_;
}

Model model_by_hand() {
  ModelBuilder builder(3, 3);
  Model& model = builder.model;
  model.inputs = builder.keep({1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3);
  HeadWeights head;
  head.query.weight = builder.keep({0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 2}, 3, 4);
  head.key.weight = builder.keep({1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1}, 3, 4);
  head.value.weight = builder.keep({1, 0, 0, 2, 4, 0}, 3, 2);
  head.output = builder.keep({1, 0, 0, 0, 0.5f, 0}, 2, 3);
  model.layers.push_back({{head}, {}});
  return model;
}

Model random_head(std::size_t n_tokens, Positions positions) {
  ModelBuilder builder(n_tokens, 8);
  builder.add_layer({{6, 6}}, OutputForm::kPerHead);
  builder.model.config.positions = positions;
  return builder.model;
}

std::vector<std::string> numbered_tokens(std::size_t n_tokens) {
  std::vector<std::string> tokens;
  tokens.reserve(n_tokens);
  for (std::size_t i = 0; i < n_tokens; ++i) {
    tokens.push_back(fmt::format("t{}", i));
  }
  return tokens;
}

}  // namespace attnviz::test
