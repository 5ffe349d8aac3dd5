// StarCoder 2 (Lozhkov et al. 2024): layer norms and biases everywhere, an MLP without a gate, a
// sliding window.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_starcoder2(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_heads = 24;
  defaults.n_kv_heads = 2;
  defaults.n_ctx = 4096;
  defaults.tied = true;
  Traits traits = read_traits(config, defaults);
  // Of the first StarCoder, whose configs these were: the library reads others in their place.
  for (const char* key : {"activation_function", "layer_norm_epsilon", "scale_attn_weights",
                          "scale_attention_softmax_in_fp32"}) {
    config.find(key);
  }
  traits.names.up = "mlp.c_fc";
  traits.names.down = "mlp.c_proj";
  norm_layers(traits, Presence::kYes, config.positive_or("norm_epsilon", 1e-5));
  set_biases(traits, present_if(config.flag_or("use_bias", true)));
  traits.gated = false;
  traits.activation = read_activation(config, "hidden_act", "gelu_pytorch_tanh");
  rotate_all(config, traits);
  slide_everywhere(config, sliding_window(config, 0), traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
