// Llama 1 to 3 (Touvron et al. 2023), and Mistral (Jiang et al. 2023): Llama with a sliding window.

#include <utility>

#include "attnviz/model/families/decoder_family.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

namespace {

DecoderTraits llama_traits(const HfConfig& config, const DecoderDefaults& defaults) {
  DecoderTraits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  rotate_all(config, traits);
  return traits;
}

}  // namespace

Model read_llama(const HfConfig& config, TensorFiles files) {
  DecoderDefaults defaults;
  defaults.n_ctx = 2048;
  DecoderTraits traits = llama_traits(config, defaults);
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  if (!config.flag_or("use_sliding_window", true)) {  // as configs that were Qwen's say it
    config.find("sliding_window");
  }
  return read_hf_decoder(std::move(files), traits);
}

Model read_mistral(const HfConfig& config, TensorFiles files) {
  DecoderDefaults defaults;
  defaults.n_kv_heads = 8;
  defaults.n_ctx = 131072;
  DecoderTraits traits = llama_traits(config, defaults);
  constexpr std::size_t kWindow = 4096;
  slide_everywhere(config, sliding_window(config, kWindow), traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
