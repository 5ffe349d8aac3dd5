// Gemma 4 (Gemma Team 2026): Gemma 3 without scaled scores, with normed values; layers that see
// everything have wider heads, and layers may take keys and values of others and embeddings of
// their own of each token.

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
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

struct HeadShape {
  std::size_t d_head = 0;
  std::size_t n_kv_heads = 0;
};

// As "per_layer_config" has them by layer, or older files for all layers that see everything.
std::vector<HeadShape> head_shapes(const HfConfig& config, const Traits& traits,
                                   const std::function<bool(std::size_t layer)>& is_sliding,
                                   bool values_are_keys) {
  constexpr std::size_t kGlobalHead = 512;
  HeadShape global{config.size_or("global_head_dim", kGlobalHead), traits.n_kv_heads};
  const std::size_t global_kv = config.size_or("num_global_key_value_heads", traits.n_kv_heads);
  global.n_kv_heads = values_are_keys ? global_kv : traits.n_kv_heads;
  const auto by_layer = config.object("per_layer_config");
  std::vector<HeadShape> shapes(traits.n_layers, {traits.d_head, traits.n_kv_heads});
  for (std::size_t layer = 0; layer < shapes.size(); ++layer) {
    const auto own = by_layer ? by_layer->object(std::to_string(layer)) : std::nullopt;
    if (own) {
      shapes[layer] = {own->size_or("head_dim", traits.d_head),
                       own->size_or("num_key_value_heads", traits.n_kv_heads)};
    } else if (!by_layer && !is_sliding(layer)) {
      shapes[layer] = global;
    }
  }
  return shapes;
}

}  // namespace

Model read_gemma4(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kPattern = 6;
  constexpr std::size_t kWindow = 512;
  constexpr std::size_t kLayerInputs = 256;
  require_dense(config);
  require_causal(config);
  require_rope_parameters(config);
  ConfigDefaults defaults{.n_heads = 8, .n_kv_heads = 4, .d_head = 256, .n_ctx = 131072};
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
  const auto own = config.find("hidden_size_per_layer_input");  // may be 0
  traits.layer_inputs = own ? static_cast<std::size_t>(own->as_unsigned()) : kLayerInputs;
  config.find("vocab_size_per_layer_input");

  // The last layer sees everything, whatever the list says of it.
  const auto is_sliding = [listed = sliding_layers(config),
                           last = traits.n_layers - 1](std::size_t layer) {
    return layer != last && (listed ? (*listed)[layer] : (layer + 1) % kPattern != 0);
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  if (traits.mask) {
    traits.mask = [is_sliding, mask = traits.mask](std::size_t layer) {
      return is_sliding(layer) ? mask(layer) : std::nullopt;
    };
  }
  const bool values_are_keys = config.flag_or("attention_k_eq_v", false);
  const std::vector<HeadShape> shapes = head_shapes(config, traits, is_sliding, values_are_keys);
  std::map<std::pair<bool, std::size_t>, std::shared_ptr<const Rope>> ropes;
  for (std::size_t layer = 0; layer < traits.n_layers; ++layer) {
    auto& rope = ropes[{is_sliding(layer), shapes[layer].d_head}];
    if (!rope) {
      rope = read_rope(config, shapes[layer].d_head, traits.n_ctx,
                       is_sliding(layer) ? "sliding_attention" : "full_attention");
    }
  }
  traits.rope = [is_sliding, shapes, ropes = std::move(ropes)](std::size_t layer) {
    return ropes.at({is_sliding(layer), shapes[layer].d_head});
  };

  const auto shared = config.find("num_kv_shared_layers");
  const std::size_t n_shared = shared ? static_cast<std::size_t>(shared->as_unsigned()) : 0;
  if (n_shared >= traits.n_layers && n_shared > 0) {
    shared->fail(fmt::format("expected fewer than {}, found {}", traits.n_layers, n_shared));
  }
  const bool are_wider = config.flag_or("use_double_wide_mlp", false);
  traits.vary = [=, where = traits.where, n_own = traits.n_layers - n_shared](std::size_t layer,
                                                                              LayerTraits& shape) {
    shape.d_head = shapes[layer].d_head;
    shape.n_kv_heads = shapes[layer].n_kv_heads;
    shape.values_are_keys = values_are_keys && !is_sliding(layer);
    if (layer >= n_own) {
      shape.keys_from = last_alike(where, n_own, is_sliding(layer), is_sliding);
      shape.d_ff *= are_wider ? 2 : 1;
    }
  };
  return read_hf_decoder(std::move(files), traits,
                         n_shared > 0 ? unused_keys(traits.names) : std::vector<HarmlessTensor>());
}

}  // namespace attnviz
