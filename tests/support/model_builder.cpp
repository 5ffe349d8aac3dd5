#include "support/model_builder.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "support/naive.h"

namespace attnviz::test {

ModelBuilder::ModelBuilder(std::size_t n_tokens, std::size_t d_model, std::uint64_t seed)
    : storage_(std::make_shared<Storage>()), next_seed_(seed * 1000) {
  model.config.name = "test";
  model.config.d_model = d_model;
  model.storage = storage_;
  model.inputs = random(n_tokens, d_model);
}

ConstMatrix ModelBuilder::keep(std::vector<float> values, std::size_t rows, std::size_t cols) {
  REQUIRE(values.size() == rows * cols);
  return {keep(std::move(values)).data(), rows, cols, cols};
}

std::span<const float> ModelBuilder::keep(std::vector<float> values) {
  storage_->push_back(std::move(values));
  return storage_->back();
}

ConstMatrix ModelBuilder::random(std::size_t rows, std::size_t cols, float amplitude) {
  std::vector<float> values = random_values(rows * cols, next_seed_++);
  for (float& value : values) {
    value *= amplitude;
  }
  return keep(std::move(values), rows, cols);
}

ModelBuilder& ModelBuilder::add_layer(const std::vector<HeadShape>& heads, OutputForm form) {
  const std::size_t d_model = model.config.d_model;
  const auto projection = [&](std::size_t d_out) {
    return Projection{random(d_model, d_out, 0.7f), random(1, d_out).row(0)};
  };
  LayerWeights layer;
  std::size_t d_contexts = 0;
  for (const HeadShape& shape : heads) {
    HeadWeights head{
        projection(shape.d_head), projection(shape.d_head), projection(shape.d_value), {}};
    if (form == OutputForm::kPerHead) {
      head.output = random(shape.d_value, d_model, 0.5f);
    }
    d_contexts += shape.d_value;
    layer.heads.push_back(head);
  }
  if (form == OutputForm::kPerLayer) {
    layer.output.weight = random(d_contexts, d_model, 0.5f);
  }
  if (form != OutputForm::kNone) {
    layer.output.bias = random(1, d_model).row(0);
  }
  model.layers.push_back(std::move(layer));
  return *this;
}

Pieces::Pieces(std::size_t n_tokens) {
  for (std::size_t i = 0; i < n_tokens; ++i) {
    texts_.push_back(fmt::format("t{}", i));
  }
  views_.assign(texts_.begin(), texts_.end());
}

MatrixBuffer output_of(const Model& model, const ModelInput& input, const AttentionRequest& request,
                       PatternSink* patterns) {
  OutputRows output(model, 0, input.size());
  RunObserver weights = patterns == nullptr ? RunObserver() : RunObserver(*patterns);
  ObserverGroup both({&output, &weights});
  attnviz::run(model, input, request, both);
  return output.take();
}

Result run(const Model& model, const AttentionRequest& request) {
  const std::size_t n_tokens = model.inputs.rows;
  Result result{PatternStore(select_heads(model, "", ""), n_tokens), {}};
  result.output = output_of(model, Pieces(n_tokens), request, &result.patterns);
  return result;
}

}  // namespace attnviz::test
