#include "support/prediction_model.h"

#include <cmath>

#include "support/model_builder.h"
#include "support/naive.h"

namespace attnviz::test {

Model prediction_model(LayerOrder order) {
  constexpr std::size_t kWidth = 6, kHidden = 9, kVocabulary = 11;
  ModelBuilder builder(5, kWidth);
  builder.add_layer({{4, 3}, {2, 5}}, OutputForm::kPerLayer);
  builder.add_layer({{2, 2}, {4, 4}}, OutputForm::kPerHead);
  builder.add_layer({{6, 2}, {2, 3}}, OutputForm::kPerLayer);
  Model& model = builder.model;
  model.config.order = order;
  const auto norm = [&](NormKind kind) {
    Norm one;
    one.kind = kind;
    one.weight = builder.random(1, kWidth).row(0);
    one.bias = kind == NormKind::kLayer ? builder.random(1, kWidth).row(0) : one.bias;
    return one;
  };
  for (LayerWeights& layer : model.layers) {
    if (order == LayerOrder::kAttentionOnly) {
      break;
    }
    layer.attention_norm = norm(NormKind::kLayer);
    layer.mlp_norm = norm(NormKind::kRms);
    layer.mlp.activation = Activation::kRelu;
    layer.mlp.up = {builder.random(kWidth, kHidden), builder.random(1, kHidden).row(0)};
    layer.mlp.down = {builder.random(kHidden, kWidth), builder.random(1, kWidth).row(0)};
  }
  model.head.unembedding = {builder.random(kWidth, kVocabulary), {}};
  return model;
}

Rows naive_log_probabilities(const Model& model, const NaiveEdits& edits,
                             const AttentionRequest& request) {
  const std::vector<double> last = naive_run(model, request, edits).output;
  const StoredMatrix& unembedding = model.head.unembedding.weight;
  Rows all(model.inputs.rows);
  for (std::size_t token = 0; token < all.size(); ++token) {
    double sum = 0.0;
    for (std::size_t id = 0; id < unembedding.cols; ++id) {
      double logit = 0.0;
      for (std::size_t i = 0; i < unembedding.rows; ++i) {
        logit +=
            last[token * unembedding.rows + i] * static_cast<double>(value(unembedding, i, id));
      }
      all[token].push_back(logit);
      sum += std::exp(logit);
    }
    for (double& logit : all[token]) {
      logit -= std::log(sum);
    }
  }
  return all;
}

}  // namespace attnviz::test
