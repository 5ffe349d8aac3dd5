// HunYuan (Tencent 2025), the dense models: Llama with norms of each head's queries and keys after
// the rotation, whose base is stretched for long texts.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_hunyuan_dense(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.names.query_norm = "self_attn.query_layernorm";
  traits.names.key_norm = "self_attn.key_layernorm";
  traits.query_key_norm = Presence::kYes;
  traits.norms_turned_heads = true;
  // The code published with the first models can leave these out, or share keys between layers.
  require(config, "use_qk_norm", "true");
  require(config, "use_rotary_pos_emb", "true");
  require(config, "use_cla", "false");
  require(config, "norm_type", R"("rms")");
  require(config, "position_embedding_xdrope", "false");
  for (const char* key : {"cla_share_factor", "attention_head_dim", "org_vocab_size"}) {
    config.find(key);  // of these options, or given by other keys
  }
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.has_alpha = true;
  rotate_all(config, rope, traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
