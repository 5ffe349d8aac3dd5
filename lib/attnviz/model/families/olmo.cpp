// OLMo 2 (Walsh et al. 2024): norms of what attention and MLP add in place of what they read, and
// of all heads' queries, and keys, together. OLMo 3 (2025): windows in three of four layers, YaRN
// in the others.

#include <memory>
#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

Traits olmo_traits(const HfConfig& config, double base) {
  ConfigDefaults defaults;
  defaults.n_heads = 32;
  defaults.n_ctx = 2048;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.norm_before = false;
  traits.norm_after = true;
  traits.query_key_norm = Presence::kYes;
  traits.head_norms = HeadNorms::kTogether;
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = base;
  rope.kind = "full_attention";
  rotate_all(config, rope, traits);
  return traits;
}

// Scaled only where newer configs say so of these layers alone.
Rope rope_in_windows(const HfConfig& config, const Traits& traits, double base) {
  constexpr std::string_view kKind = "sliding_attention";
  const auto parameters = config.object("rope_parameters");
  if (!parameters || !parameters->has(kKind)) {
    return plain_rope(traits.d_head, traits.rope(0)->theta, traits.n_ctx);
  }
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.base = base;
  facts.kind = kKind;
  return read_config_rope(config, facts);
}

}  // namespace

Model read_olmo2(const HfConfig& config, TensorFiles files) {
  return read_hf_decoder(std::move(files), olmo_traits(config, RopeFacts().base));
}

Model read_olmo3(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kPattern = 4;
  constexpr double kBase = 5e5;
  Traits traits = olmo_traits(config, kBase);
  const auto is_sliding = [listed = sliding_layers(config)](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % kPattern != 0;
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  const auto scaled = traits.rope;
  const auto plain = std::make_shared<const Rope>(rope_in_windows(config, traits, kBase));
  traits.rope = [is_sliding, scaled, plain](std::size_t layer) {
    return is_sliding(layer) ? plain : scaled(layer);
  };
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
