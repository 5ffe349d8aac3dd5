// Qwen 2 (Yang et al. 2024): biases on queries, keys and values. Qwen 3 (2025): norms of each
// head's queries and keys in their place.

#include <optional>
#include <utility>

#include "attnviz/model/families/decoder_family.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

namespace {

DecoderTraits qwen_traits(const HfConfig& config, const DecoderDefaults& defaults = {}) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kFirstSliding = 28;
  DecoderTraits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  rotate_all(config, traits);
  if (config.flag_or("use_sliding_window", false)) {
    const std::size_t window = config.size_or("sliding_window", kWindow);
    const std::optional<JsonNode> most = config.find("max_window_layers");  // may be 0
    const std::size_t first = most ? static_cast<std::size_t>(most->as_unsigned()) : kFirstSliding;
    slide(
        config, window, [first](std::size_t layer) { return layer >= first; }, traits);
  }
  return traits;
}

}  // namespace

Model read_qwen2(const HfConfig& config, TensorFiles files) {
  DecoderTraits traits = qwen_traits(config);
  traits.qkv_bias = true;
  return read_hf_decoder(std::move(files), traits);
}

Model read_qwen3(const HfConfig& config, TensorFiles files) {
  DecoderDefaults defaults;
  defaults.d_head = 128;
  DecoderTraits traits = qwen_traits(config, defaults);
  traits.qkv_bias = traits.output_bias = config.flag_or("attention_bias", false);
  traits.query_key_norm = true;
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
