#include "attnviz/analysis/heads/probe.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "support/model_builder.h"

namespace attnviz {

TEST_CASE("model_fingerprint: it covers every part that scores may depend on") {
  test::ModelBuilder builder(1, 2);
  builder.add_layer({{2, 2}}, test::OutputForm::kPerLayer);
  Model& model = builder.model;
  LayerWeights& layer = model.layers.front();
  const ConstMatrix one = builder.keep({1, 2, 3, 4}, 2, 2);
  const ConstMatrix other = builder.keep({1, 3, 3, 4}, 2, 2);
  layer.convolution.width = 2;
  layer.convolution.kernel = builder.keep({1, 2, 3, 4});
  layer.convolution.in.weight = layer.convolution.out.weight = one;
  layer.input.gate.weight = layer.input.projection.weight = one;
  layer.laurel.left.weight = layer.laurel.right.weight = one;
  layer.altup.router.weight = layer.altup.prediction.weight = one;
  layer.altup.correction.weight = layer.experts.shared_gate.weight = one;
  model.position_embeddings = model.layer_embeddings.table = one;
  const std::string before = model_fingerprint(model);
  CHECK(model_fingerprint(Model(model)) == before);
  StoredMatrix* const parts[] = {&layer.convolution.in.weight,   &layer.convolution.out.weight,
                                 &layer.input.gate.weight,       &layer.input.projection.weight,
                                 &layer.laurel.left.weight,      &layer.laurel.right.weight,
                                 &layer.altup.router.weight,     &layer.altup.prediction.weight,
                                 &layer.altup.correction.weight, &layer.experts.shared_gate.weight,
                                 &model.position_embeddings,     &model.layer_embeddings.table};
  for (StoredMatrix* const part : parts) {
    *part = other;
    CHECK(model_fingerprint(model) != before);
    *part = one;
  }
  layer.convolution.kernel = builder.keep({1, 5, 3, 4});
  CHECK(model_fingerprint(model) != before);
}

}  // namespace attnviz
