// Llama 1 to 3 (Touvron et al. 2023). Mistral (Jiang et al. 2023): Llama with a sliding window;
// Ministral (2024): Mistral with a window in some layers; Ministral 3 (2025): queries that grow
// with their position. SmolLM 3 (Bakouch et al. 2025): Llama
// without rotary positions in every fourth layer.

#include <fmt/core.h>

#include <memory>
#include <utility>
#include <vector>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

constexpr std::string_view kQueryGrowth = "llama_4_scaling_beta";
constexpr std::size_t kMistralWindow = 4096;

Traits llama_traits(const HfConfig& config, const ConfigDefaults& defaults,
                    double base = RopeFacts().base) {
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = base;
  rotate_all(config, rope, traits);
  return traits;
}

Traits mistral_traits(const HfConfig& config) {
  ConfigDefaults defaults;
  defaults.n_kv_heads = 8;
  defaults.n_ctx = 131072;
  return llama_traits(config, defaults);
}

}  // namespace

Model read_llama(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  Traits traits = llama_traits(config, defaults);
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  if (!config.flag_or("use_sliding_window", true)) {  // as configs that were Qwen's say it
    config.find("sliding_window");
  }
  return read_hf_decoder(std::move(files), traits);
}

Model read_mistral(const HfConfig& config, TensorFiles files) {
  Traits traits = mistral_traits(config);
  slide_everywhere(config, sliding_window(config, kMistralWindow), traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_ministral(const HfConfig& config, TensorFiles files) {
  Traits traits = mistral_traits(config);
  slide(
      config, sliding_window(config, kMistralWindow), [](std::size_t /*layer*/) { return true; },
      traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_ministral3(const HfConfig& config, TensorFiles files) {
  require_rope_parameters(config);
  ConfigDefaults defaults;
  defaults.n_kv_heads = 8;
  defaults.d_head = 128;
  defaults.n_ctx = 262144;
  defaults.epsilon = 1e-5;
  Traits traits = llama_traits(config, defaults);
  slide_everywhere(config, sliding_window(config, 0), traits);
  if (const auto rope = config.object("rope_parameters"); rope && rope->has(kQueryGrowth)) {
    Rope growing = *traits.rope(0);
    growing.query_growth = rope->positive(kQueryGrowth);
    growing.original_n_ctx = rope->size("original_max_position_embeddings");
    traits.rope = [same = std::make_shared<const Rope>(std::move(growing))](std::size_t /*layer*/) {
      return same;
    };
  }
  return read_hf_decoder(std::move(files), traits);
}

Model read_mistral3(const HfConfig& config, TensorFiles files) {
  return config.text_or("model_type", "mistral") == "ministral3"
             ? read_ministral3(config, std::move(files))
             : read_mistral(config, std::move(files));
}

Model read_smollm3(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kInterval = 4;
  constexpr double kBase = 2e6;
  ConfigDefaults defaults;
  defaults.n_kv_heads = 4;
  defaults.n_heads = 16;
  defaults.n_ctx = 32768;
  defaults.tied = true;
  Traits traits = llama_traits(config, defaults, kBase);
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  const std::size_t interval = config.size_or("no_rope_layer_interval", kInterval);
  std::vector<bool> listed;
  if (const auto flags = config.find("no_rope_layers")) {  // 1: with
    for (const float flag : flags->as_numbers()) {
      listed.push_back(flag != 0.0f);
    }
    if (listed.size() < traits.n_layers) {
      flags->fail(fmt::format("expected a number for each of {} layers, found {}", traits.n_layers,
                              listed.size()));
    }
  }
  const auto is_plain = [listed = std::move(listed), interval](std::size_t layer) {
    return listed.empty() ? (layer + 1) % interval == 0 : !listed[layer];
  };
  keep_unrotated(is_plain, traits);
  const std::size_t window = sliding_window(config, 0);
  if (config.flag_or("use_sliding_window", false)) {
    slide(config, window, is_plain, traits);
  } else {
    require_none_sliding(config, "use_sliding_window, which is false");
  }
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
