#include "attnviz/document/model_info.h"

#include <algorithm>
#include <cmath>

namespace attnviz {

AttentionVariant attention_variant(const Model& model, std::size_t layer) {
  const LayerWeights& weights = model.layers[layer];
  const std::size_t d_head = weights.heads.front().d_head();
  AttentionVariant variant;
  variant.d_head = d_head;
  variant.mask = weights.mask.value_or(model.config.mask);
  const bool is_alike =
      std::all_of(weights.heads.begin(), weights.heads.end(),
                  [d_head](const HeadWeights& head) { return head.d_head() == d_head; });
  variant.score_scale = weights.score_scale;
  if (weights.score_scale == 0.0 && is_alike) {
    variant.score_scale = 1.0 / std::sqrt(static_cast<double>(d_head));
  }
  variant.soft_cap = weights.soft_cap;
  variant.query_norm = weights.query_norm.present();
  variant.key_norm = weights.key_norm.present();
  variant.has_rope = model.config.positions == Positions::kRope;
  if (variant.has_rope) {
    const Rope otherwise;
    const Rope& rope = weights.rope ? *weights.rope : otherwise;
    variant.rope_base = rope.theta;
    variant.n_rotated = weights.rope ? rope.n_rotated() : d_head / 2 * 2;
    variant.rope_scaling = rope.scaling;
    variant.rope_factor = rope.factor;
    variant.original_n_ctx = rope.original_n_ctx;
  }
  return variant;
}

const Norm* any_norm(const Model& model) noexcept {
  for (const Norm* norm :
       {&model.layers.front().attention_norm, &model.layers.front().mlp_norm, &model.head.norm}) {
    if (norm->present()) {
      return norm;
    }
  }
  return nullptr;
}

std::string_view activation_name(Activation activation) noexcept {
  switch (activation) {
    case Activation::kGelu:
      return "gelu";
    case Activation::kGeluTanh:
      return "gelu (tanh)";
    case Activation::kSilu:
      return "silu";
    case Activation::kRelu:
      return "relu";
    case Activation::kTanh:
      return "tanh";
  }
  return "";
}

std::string_view order_name(LayerOrder order) noexcept {
  switch (order) {
    case LayerOrder::kAttentionOnly:
      return "attention-only";
    case LayerOrder::kPreNorm:
      return "pre-norm";
    case LayerOrder::kParallel:
      return "parallel";
    case LayerOrder::kPostNorm:
      return "post-norm";
  }
  return "";
}

}  // namespace attnviz
