// Granite (IBM 2024): Llama with multipliers in place of what its parametrisation needs.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_granite(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  rotate_all(config, traits);
  const auto multiplier = [&config](std::string_view key) {
    return static_cast<float>(config.positive_or(key, 1.0));
  };
  traits.embedding_scale = multiplier("embedding_multiplier");
  traits.branch_scale = multiplier("residual_multiplier");
  traits.score_scale = config.positive_or("attention_multiplier", 1.0);  // in place of 1 / √d_head
  traits.logit_scale = 1.0f / multiplier("logits_scaling");
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
