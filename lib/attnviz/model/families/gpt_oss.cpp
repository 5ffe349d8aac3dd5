// gpt-oss (OpenAI 2025): windows in every other layer, a learned sink in each head, experts whose
// gates are cut.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_gpt_oss(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 128;
  constexpr std::size_t kExperts = 128;
  constexpr std::size_t kUsed = 4;
  constexpr double kBase = 150000.0;
  constexpr double kLimit = 7.0;
  ConfigDefaults defaults{.n_heads = 64, .n_kv_heads = 8, .d_head = 64, .n_ctx = 131072};
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  config.find("hidden_act");              // the limit says what takes its place
  config.find("initial_context_length");  // rope_scaling says it
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", true));
  traits.has_sinks = true;
  traits.names.sinks = "self_attn.sinks";
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = kBase;
  rotate_all(config, rope, traits);
  slide(
      config, sliding_window(config, kWindow), [](std::size_t layer) { return layer % 2 == 0; },
      traits);
  ExpertTraits& experts = traits.experts;
  experts.n = config.size_or("num_local_experts", kExperts);
  experts.d_ff = traits.d_ff;
  experts.router.kind = RouterKind::kChosenSoftmax;
  require_same(config.find("experts_per_token"), config.find("num_experts_per_tok"));
  experts.router.n_used =
      config.size_or("num_experts_per_tok", config.size_or("experts_per_token", kUsed));
  experts.router_bias = experts.bias = Presence::kYes;
  experts.interleaved = experts.turned = true;
  experts.limit = static_cast<float>(config.positive_or("swiglu_limit", kLimit));
  require(config, "swiglu_alpha", "1.702");
  traits.names.router = "mlp.router";
  name_experts(traits.names);
  traits.names.experts_gate_up_bias = "mlp.experts.gate_up_proj_bias";
  traits.names.experts_down_bias = "mlp.experts.down_proj_bias";
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
