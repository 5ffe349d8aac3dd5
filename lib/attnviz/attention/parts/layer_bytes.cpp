// What the parts of a layer need in memory.
#include <algorithm>

#include "attnviz/attention/attention_layer.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/expert_mlps.h"
#include "attnviz/attention/parts/mlp.h"
#include "attnviz/attention/parts/recurrence.h"

namespace attnviz {

double layer_bytes(const Model& model, std::size_t n_tokens) noexcept {
  // Its input and its output, and what is normed and added; of several streams all.
  const double several =
      model.altup.present() ? 2.0 * static_cast<double>(model.altup.n_streams()) + 4.0 : 0.0;
  const double streams = several + (model.config.order == LayerOrder::kAttentionOnly ? 2.0 : 4.0);
  const double token_bytes = static_cast<double>(n_tokens) * static_cast<double>(sizeof(float));
  double most = 0.0;
  for (const LayerWeights& layer : model.layers) {
    double contexts = 0.0;
    for (const HeadWeights& head : layer.heads) {
      contexts += token_bytes * static_cast<double>(head.d_value());
    }
    const double turns =
        layer.rope ? token_bytes * static_cast<double>(layer.rope->n_rotated()) : 0.0;
    const double latents = token_bytes * static_cast<double>(layer.latents.query_rank() +
                                                             layer.latents.key_down.d_out());
    most = std::max(most, tensor_bytes(layer, n_tokens) + mlp_bytes(layer.mlp, n_tokens) +
                              expert_bytes(layer.experts, n_tokens) +
                              recurrence_bytes(layer.recurrence, n_tokens) + contexts + turns +
                              latents);
  }
  return most + streams * token_bytes * static_cast<double>(model.config.d_model);
}

}  // namespace attnviz
