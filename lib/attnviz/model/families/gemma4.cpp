// Gemma 4 (Gemma Team 2026): Gemma 3 without scaled scores, with normed values; layers that see
// everything have wider heads, and layers may take keys and values of others and embeddings of
// their own of each token.

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

void require_dense(const HfConfig& config) {
  if (config.flag_or("enable_moe_block", false)) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}enable_moe_block: expected false, found true: mixtures of experts are "
                    "not read",
                    config.node().where()));
  }
  for (const char* key :
       {"num_experts", "top_k_experts", "expert_intermediate_size", "moe_intermediate_size"}) {
    config.find(key);  // of experts, which are off
  }
}

// Of pictures, or not at all.
void require_causal(const HfConfig& config) {
  const auto both = config.find("use_bidirectional_attention");
  if (both && value_text(*both) != "false" && value_text(*both) != "\"vision\"") {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}expected vision, false or null, found {}",
                                                     both->where(), value_text(*both)));
  }
}

std::shared_ptr<const Rope> read_rope(const HfConfig& config, std::size_t d_head, std::size_t n_ctx,
                                      std::string_view kind) {
  constexpr double kGlobalBase = 1e6;
  RopeFacts facts{d_head, n_ctx};
  facts.kind = kind;
  facts.base = kind == "full_attention" ? kGlobalBase : facts.base;
  return std::make_shared<const Rope>(read_config_rope(config, facts));
}

}  // namespace

Model read_gemma4(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kPattern = 6;
  constexpr std::size_t kWindow = 512;
  constexpr std::size_t kGlobalHead = 512;
  require_dense(config);
  require_causal(config);
  ConfigDefaults defaults{.n_heads = 8, .n_kv_heads = 1, .d_head = 256, .n_ctx = 131072};
  defaults.tied = true;
  Traits traits = read_traits(config, defaults);
  traits.names.mlp_norm = "pre_feedforward_layernorm";
  traits.names.layer_embeddings = "embed_tokens_per_layer";
  traits.names.layer_projection = "per_layer_model_projection";
  traits.names.layer_projection_norm = "per_layer_projection_norm";
  traits.names.input_gate = "per_layer_input_gate";
  traits.names.input_projection = "per_layer_projection";
  traits.names.input_norm = "post_per_layer_input_norm";
  traits.names.result_scale = "layer_scalar";
  traits.activation = read_activation(config, "hidden_activation", "gelu_pytorch_tanh");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.norm_after = true;
  traits.query_key_norm = Presence::kYes;
  traits.value_norm = true;
  traits.score_scale = 1.0;
  traits.result_scale = true;
  traits.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(traits.d_model)));
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", 0.0);
  const auto own = config.find("hidden_size_per_layer_input");
  traits.layer_inputs = own ? static_cast<std::size_t>(own->as_unsigned()) : 0;
  config.find("vocab_size_per_layer_input");

  const auto is_sliding = [listed = sliding_layers(config)](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % kPattern != 0;
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  const std::size_t global_head = config.size_or("global_head_dim", kGlobalHead);
  const auto global = read_rope(config, global_head, traits.n_ctx, "full_attention");
  const auto local = read_rope(config, traits.d_head, traits.n_ctx, "sliding_attention");
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };

  const bool values_are_keys = config.flag_or("attention_k_eq_v", false);
  const std::size_t global_kv = config.size_or("num_global_key_value_heads", traits.n_kv_heads);
  const auto shared = config.find("num_kv_shared_layers");
  const std::size_t n_shared = shared ? static_cast<std::size_t>(shared->as_unsigned()) : 0;
  if (n_shared >= traits.n_layers && n_shared > 0) {
    shared->fail(fmt::format("expected fewer than {}, found {}", traits.n_layers, n_shared));
  }
  const bool are_wider = config.flag_or("use_double_wide_mlp", false);
  traits.vary = [=, where = traits.where, n_own = traits.n_layers - n_shared](std::size_t layer,
                                                                              LayerTraits& shape) {
    if (!is_sliding(layer)) {
      shape.d_head = global_head;
      shape.n_kv_heads = values_are_keys ? global_kv : shape.n_kv_heads;
      shape.values_are_keys = values_are_keys;
    }
    if (layer >= n_own) {
      shape.keys_from = last_alike(where, n_own, is_sliding(layer), is_sliding);
      shape.d_ff *= are_wider ? 2 : 1;
    }
  };
  return read_hf_decoder(std::move(files), traits,
                         n_shared > 0 ? unused_keys(traits.names) : std::vector<HarmlessTensor>());
}

}  // namespace attnviz
