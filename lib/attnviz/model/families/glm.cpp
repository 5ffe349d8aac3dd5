// GLM (GLM Team 2024, "ChatGLM"): Llama with a fused MLP and rotary positions that pair
// neighbouring dimensions of one half of each head. GLM-4 of April 2025 also norms what attention
// and MLP add.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

Traits glm_traits(const HfConfig& config) {
  constexpr double kRotatedShare = 0.5;
  ConfigDefaults defaults;
  defaults.n_kv_heads = 2;
  defaults.d_head = 128;
  defaults.n_ctx = 131072;
  defaults.epsilon = 1.5625e-7;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = present_if(config.flag_or("attention_bias", true));
  traits.gate_with_up = true;
  RopeFacts rope{traits.d_head, traits.n_ctx, kRotatedShare};
  rope.pairing = RopePairing::kNeighbours;
  rotate_all(config, rope, traits);
  return traits;
}

}  // namespace

Model read_glm(const HfConfig& config, TensorFiles files) {
  return read_hf_decoder(std::move(files), glm_traits(config));
}

Model read_glm4(const HfConfig& config, TensorFiles files) {
  Traits traits = glm_traits(config);
  traits.norm_after = true;
  traits.names.after_attention_norm = "post_self_attn_layernorm";
  traits.names.after_mlp_norm = "post_mlp_layernorm";
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
