// Gemma 4 (Gemma Team 2026): Gemma 3 without scaled scores, with normed values; layers that see
// everything have wider heads, layers may take keys and values of others and embeddings of their
// own of each token, and experts may stand beside the MLP.

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
#include "attnviz/model/families/gemma_traits.h"

namespace attnviz {

namespace {

// Experts beside the MLP, with norms of their own; a router that looks at the stream itself.
void read_gemma4_experts(const HfConfig& config, Traits& traits) {
  if (!config.flag_or("enable_moe_block", false)) {
    for (const char* key :
         {"num_experts", "top_k_experts", "expert_intermediate_size", "moe_intermediate_size"}) {
      config.find(key);  // of experts, which are off
    }
    return;
  }
  require_same(config.find("moe_intermediate_size"), config.find("expert_intermediate_size"));
  ExpertTraits& experts = traits.experts;
  experts.n = config.size("num_experts");
  experts.d_ff = config.size({"moe_intermediate_size", "expert_intermediate_size"});
  experts.router.n_used = config.size("top_k_experts");
  experts.router.normed = true;
  experts.apart = true;
  experts.shared_d_ff = traits.d_ff;
  TensorNames& names = traits.names;
  names.router = "router.proj";
  names.router_scale = "router.scale";
  names.expert_scale = "router.per_expert_scale";
  names.expert_norm = "pre_feedforward_layernorm_2";
  names.after_expert_norm = "post_feedforward_layernorm_2";
  names.after_shared_norm = "post_feedforward_layernorm_1";
  names.experts_gate_up = "experts.gate_up_proj";
  names.experts_down = "experts.down_proj";
  names.expert_gate = "experts.{}.gate_proj";
  names.expert_up = "experts.{}.up_proj";
  names.expert_down = "experts.{}.down_proj";
  names.shared_mlp_gate = names.gate;
  names.shared_mlp_up = names.up;
  names.shared_mlp_down = names.down;
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
    if (shapes[layer].d_head > kWidestHead) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}layer {}: expected heads of at most {} numbers, found {}",
                              config.node().where(), layer, kWidestHead, shapes[layer].d_head));
    }
  }
  return shapes;
}

}  // namespace

Model read_gemma4(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kPattern = 6;
  constexpr std::size_t kWindow = 512;
  constexpr std::size_t kLayerInputs = 256;
  require_causal(config);
  require_rope_parameters(config);
  ConfigDefaults defaults{.n_heads = 8, .n_kv_heads = 4, .d_head = 256, .n_ctx = 131072};
  defaults.tied = true;
  Traits traits = unscaled_gemma_traits(config, defaults, kLayerInputs);
  traits.names.result_scale = "layer_scalar";
  traits.result_scale = true;
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", 0.0);
  read_gemma4_experts(config, traits);
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

  const std::size_t n_shared = n_sharing_layers(config, traits.n_layers, 0);
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
