// Llama 1 to 3 (Touvron et al. 2023). Mistral (Jiang et al. 2023): Llama with a sliding window;
// Ministral (2024): Mistral with a window in some layers; Ministral 3 (2025): queries that grow
// with their position. SmolLM 3 (Bakouch et al. 2025): Llama without rotary positions in every
// fourth layer. MiniCPM (Hu et al. 2024): Llama with multipliers for embeddings, layer outputs and
// logits, so that settings found on a small model suit a larger one. gpt-oss (OpenAI 2025): windows
// in every other layer, a learned sink in each head, experts with clipped gates.
#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"

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
  use_rope(config, rope, traits);
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
  if (!config.flag_or("use_sliding_window", true)) {  // in configs derived from Qwen's
    config.find("sliding_window");
  }
  return read_hf_decoder(std::move(files), traits);
}

Model read_mistral(const HfConfig& config, TensorFiles files) {
  Traits traits = mistral_traits(config);
  use_sliding_window(config, sliding_window(config, kMistralWindow), traits);
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
  use_sliding_window(config, sliding_window(config, 0), traits);
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
  if (const auto flags = config.find("no_rope_layers")) {  // 1: has RoPE
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

namespace {

// The family's own code computes its tables for the longest text at once. If that is longer than
// the original context, all texts get the factors for long texts.
void rotate_as_longest(Traits& traits) {
  Rope rope = *traits.rope(0);
  if (rope.scaling == "longrope" && traits.n_ctx > rope.short_text) {
    rope.inverse_frequencies = rope.long_inverse_frequencies;
    traits.rope = [same = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
      return same;
    };
  }
}

// Refuses factors that the family's own code ignores.
void require_plain_factors(const HfConfig& config, const Rope& rope) {
  const auto scaling = config.object("rope_scaling");
  if (!scaling || rope.scaling != "longrope") {
    return;
  }
  const double grown = static_cast<double>(rope.n_ctx) / static_cast<double>(rope.short_text);
  const bool has_other = scaling->positive_or("factor", grown) != grown;
  for (const char* key : {"factor", "attention_factor"}) {
    if (scaling->has(key) && (has_other || key != std::string_view("factor"))) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}MiniCPM's own code does not use it: leave it out",
                              scaling->at(key).where()));
    }
  }
}

// Zhao et al. 2025: in texts of `dense_len` tokens or more, queries attend to chosen blocks.
void read_sparse(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kDense = 8192;
  if (const auto sparse = config.object("sparse_config")) {
    traits.most_tokens = sparse->size_or("dense_len", kDense) - 1;
    for (const char* key : {"block_size", "init_blocks", "kernel_size", "kernel_stride", "topk",
                            "use_nope", "window_size"}) {
      sparse->find(key);  // for longer texts
    }
    if (traits.most_tokens == 0) {
      sparse->node().fail("dense_len: expected at least 2, found 1");
    }
  }
}

}  // namespace

Model read_minicpm(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  defaults.tied = true;
  require(config, "num_experts", "0");
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  use_rope(config, traits);
  require_plain_factors(config, *traits.rope(0));
  rotate_as_longest(traits);
  read_sparse(config, traits);
  config.find("mup_denominator");  // used only in training
  traits.embedding_scale = static_cast<float>(config.positive_or("scale_emb", 1.0));
  traits.branch_scale = static_cast<float>(config.positive_or("scale_depth", 1.0) /
                                           std::sqrt(static_cast<double>(traits.n_layers)));
  traits.logit_scale = static_cast<float>(config.positive_or("dim_model_base", 1.0) /
                                          static_cast<double>(traits.d_model));
  return read_hf_decoder(std::move(files), traits);
}

Model read_gpt_oss(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 128;
  constexpr std::size_t kExperts = 128;
  constexpr std::size_t kUsed = 4;
  constexpr double kBase = 150000.0;
  constexpr double kLimit = 7.0;
  ConfigDefaults defaults{.n_heads = 64, .n_kv_heads = 8, .d_head = 64, .n_ctx = 131072};
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  config.find("hidden_act");              // replaced by the limit's activation
  config.find("initial_context_length");  // rope_scaling contains it
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", true));
  traits.has_sinks = true;
  traits.names.sinks = "self_attn.sinks";
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = kBase;
  use_rope(config, rope, traits);
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
