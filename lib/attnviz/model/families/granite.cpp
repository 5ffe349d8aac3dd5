// Granite (IBM 2024): Llama with multipliers in place of what its parametrisation needs; of some
// sizes with experts.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

Traits granite_traits(const HfConfig& config) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  rotate_all(config, traits);
  const auto multiplier = [&config](std::string_view key) {
    return static_cast<float>(config.positive_or(key, 1.0));
  };
  traits.embedding_scale = multiplier("embedding_multiplier");
  traits.branch_scale = multiplier("residual_multiplier");
  traits.score_scale = config.positive_or("attention_multiplier", 1.0);  // in place of 1 / √d_head
  traits.logit_scale = 1.0f / multiplier("logits_scaling");
  return traits;
}

}  // namespace

Model read_granite(const HfConfig& config, TensorFiles files) {
  Traits traits = granite_traits(config);
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  return read_hf_decoder(std::move(files), traits);
}

Model read_granitemoe(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 8;
  constexpr std::size_t kUsed = 2;
  Traits traits = granite_traits(config);
  ExpertTraits& experts = traits.experts;
  experts.n = config.size_or("num_local_experts", kExperts);
  experts.d_ff = traits.d_ff;
  experts.router.kind = RouterKind::kChosenSoftmax;
  experts.router.n_used = config.size_or("num_experts_per_tok", kUsed);
  experts.gate_with_up = true;
  traits.names.router = "block_sparse_moe.router.layer";
  traits.names.expert_gate_up = "block_sparse_moe.input_linear.weight";
  traits.names.expert_down = "block_sparse_moe.output_linear.weight";
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
