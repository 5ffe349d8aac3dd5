// Phi-1 to Phi-2 (Gunasekar et al. 2023, Li et al. 2023): attention and MLP in parallel from one
// layer norm, rotary positions in a part of each head. Phi-3 (Abdin et al. 2024): Llama with fused
// matrices.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_phi(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.5;
  ConfigDefaults defaults;
  defaults.n_heads = 32;
  defaults.n_ctx = 2048;
  Traits traits = read_traits(config, defaults);
  traits.names.output = "self_attn.dense";
  traits.names.query_norm = "self_attn.q_layernorm";
  traits.names.key_norm = "self_attn.k_layernorm";
  traits.names.up = "mlp.fc1";
  traits.names.down = "mlp.fc2";
  traits.names.norm = "final_layernorm";
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_eps", 1e-5));
  set_biases(traits, Presence::kYes);
  traits.unembedding_bias = Presence::kYes;
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.gated = false;
  traits.activation = read_activation(config, "hidden_act", "gelu_new");
  traits.query_key_norm = present_if(config.flag_or("qk_layernorm", false));
  rotate_all(config, {traits.d_head, traits.n_ctx, kRotatedShare}, traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_phi3(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = defaults.original_n_ctx = 4096;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv = QkvStorage::kStacked;
  traits.gate_with_up = true;
  rotate_all(config, traits);
  slide_everywhere(config, sliding_window(config, 0), traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
