// StableLM 3B and 2 (Bellagente et al. 2024): layer norms, rotary positions in a part of each head.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_stablelm(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.25;
  ConfigDefaults defaults;
  defaults.n_heads = defaults.n_kv_heads = 32;
  defaults.n_ctx = 4096;
  Traits traits = read_traits(config, defaults);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_eps", 1e-5));
  // As the family's first code called them: the library reads others in their place.
  for (const char* key : {"norm_eps", "num_heads"}) {
    config.find(key);
  }
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = present_if(config.flag_or("use_qkv_bias", false));
  if (config.flag_or("use_parallel_residual", false)) {
    traits.order = LayerOrder::kParallel;
    traits.one_norm = true;
  }
  traits.query_key_norm = present_if(config.flag_or("qk_layernorm", false));
  traits.head_norms = HeadNorms::kOfEach;
  traits.names.query_norm = "self_attn.q_layernorm.norms.{}";
  traits.names.key_norm = "self_attn.k_layernorm.norms.{}";
  RopeFacts rope{traits.d_head, traits.n_ctx, kRotatedShare};
  rope.old_share_key = "rope_pct";
  rotate_all(config, rope, traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
