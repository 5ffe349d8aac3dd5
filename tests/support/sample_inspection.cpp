#include "support/sample_inspection.h"

#include <fmt/core.h>

#include <memory>
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

InspectedStep inspected_step(const SampleInspection& sample, InspectionStep step, bool ascii) {
  InspectionPage page = sample.page;
  page.steps = {step};
  page.explain = true;
  const auto steps =
      inspection_document(page, InspectionDetail::kWritten, ascii).heads.front().steps;
  return steps.empty() ? InspectedStep{} : steps.front();
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

Model whole_layer(std::size_t n_tokens) {
  constexpr std::size_t kModel = 8;
  constexpr std::size_t kHead = 6;
  ModelBuilder builder(n_tokens, kModel);
  builder.add_layer({{kHead, kHead}, {kHead, kHead}}, OutputForm::kPerHead);
  Model& model = builder.model;
  model.config.positions = Positions::kRope;
  model.config.order = LayerOrder::kPreNorm;
  LayerWeights& layer = model.layers.front();
  layer.output.bias = {};
  layer.heads[1].key = layer.heads[0].key;
  layer.heads[1].value = layer.heads[0].value;
  const auto norm = [&builder](std::size_t size) {
    Norm made;
    made.kind = NormKind::kRms;
    made.weight = builder.random(1, size).row(0);
    made.weight_offset = 1.0f;
    return made;
  };
  layer.attention_norm = norm(kModel);
  layer.after_attention_norm = norm(kModel);
  layer.query_norm = norm(kHead);
  layer.key_norm = norm(kHead);
  Rope rope;
  rope.inverse_frequencies = {1.0, 0.125};
  rope.scaling = "linear";
  rope.factor = 4.0;
  layer.rope = std::make_shared<const Rope>(std::move(rope));
  layer.mask = Mask{MaskKind::kWindow, 3};
  layer.score_scale = 0.25;
  layer.soft_cap = 2.0f;
  return model;
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
