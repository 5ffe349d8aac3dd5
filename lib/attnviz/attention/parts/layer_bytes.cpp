// What the parts of a layer need in memory.
#include <algorithm>

#include "attnviz/attention/attention_layer.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/expert_mlps.h"
#include "attnviz/attention/parts/mlp.h"
#include "attnviz/attention/parts/recurrence.h"

namespace attnviz {

namespace {

// Numbers a token of what a learned residual is made of: the look, what is narrow, and the sum.
double laurel_width(const Laurel& laurel) noexcept {
  return laurel.present()
             ? static_cast<double>(laurel.left.d_in() + laurel.left.d_out() + laurel.right.d_out())
             : 0.0;
}

}  // namespace

double layer_bytes(const Model& model, std::size_t n_tokens) {
  // Its input and its output, and what is normed and added; of several streams all.
  const double several =
      model.altup.present() ? 2.0 * static_cast<double>(model.altup.n_streams()) + 4.0 : 0.0;
  const double streams = several + (model.config.order == LayerOrder::kAttentionOnly ? 2.0 : 4.0);
  const double token_bytes = static_cast<double>(n_tokens) * static_cast<double>(sizeof(float));
  double most = 0.0;
  for (const LayerWeights& layer : model.layers) {
    double contexts = 0.0;
    for (const HeadWeights& head : layer.heads) {
      contexts += token_bytes * static_cast<double>(head.d_value() + head.output_gate.d_out());
    }
    const double turns =
        layer.rope ? token_bytes * static_cast<double>(layer.rope->n_rotated()) : 0.0;
    const double latents = token_bytes * static_cast<double>(layer.latents.query_rank() +
                                                             layer.latents.key_down.d_out());
    const double learned = token_bytes * laurel_width(layer.laurel);
    const double gated =
        token_bytes * static_cast<double>(layer.input.gate.d_out() + layer.convolution.in.d_out() +
                                          layer.convolution.n_channels());
    most = std::max(most, tensor_bytes(layer, n_tokens) + mlp_bytes(layer.mlp, n_tokens) +
                              expert_bytes(layer.experts, n_tokens) +
                              recurrence_bytes(layer.recurrence, n_tokens) + contexts + turns +
                              latents + learned + gated);
  }
  // Those of all layers are there from the first one on.
  const double inputs =
      token_bytes * static_cast<double>(model.layer_embeddings.projection.d_out());
  double lent = 0.0;
  for (const std::size_t layer : model.lending_layers()) {
    lent += LayerCache::bytes(model.layers[layer], n_tokens);
  }
  return most + inputs + lent + streams * token_bytes * static_cast<double>(model.config.d_model);
}

}  // namespace attnviz
