// Gemma 1 to 3 (Gemma Team 2024, 2024, 2025): scaled embeddings and norms of weight + 1. Gemma 2
// adds soft caps, windows in every other layer and norms after attention and MLP. Gemma 3 has norms
// of queries and keys instead of the caps, and two rotary bases; EmbeddingGemma (Vera et al. 2025)
// is a bidirectional one. Gemma 3n (Gemma Team 2025): four residual streams (AltUp), a learned
// augmented residual in each layer (LAuReL), embeddings of each token for every layer, MLPs whose
// gates are mostly 0, and last layers that take the keys and values of others. Gemma 4 (Gemma Team
// 2026): Gemma 3 with unscaled scores and normed values; layers with global attention have wider
// heads, layers may take keys and values of others and have their own embeddings of each token, and
// experts may stand beside the MLP.
#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/gemma_traits.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

// Configs of models for text and pictures omit many keys for which their library has defaults.
constexpr ConfigDefaults kGemma = {16, 16, 256, 8192, 1e-6, 0, true};
constexpr ConfigDefaults kGemma2 = {8, 4, 256, 8192, 1e-6, 0, true};
constexpr ConfigDefaults kGemma3 = {8, 4, 256, 131072, 1e-6, 0, true};

// Configs of Gemma 1 have "gelu" in hidden_act but mean the approximation; later ones have both.
Activation gemma_activation(const HfConfig& config) {
  constexpr std::string_view kTanh = "gelu_pytorch_tanh";
  const std::string_view older = config.text_or("hidden_act", kTanh);
  return read_activation(config, "hidden_activation", older == "gelu" ? kTanh : older);
}

Traits gemma_traits(const HfConfig& config, const ConfigDefaults& defaults) {
  Traits traits = read_traits(config, defaults);
  traits.activation = gemma_activation(config);
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.norm_offset = 1.0f;
  traits.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(traits.d_model)));
  return traits;
}

double score_scale(const HfConfig& config) {
  constexpr double kQueryPreAttnScalar = 256.0;
  return 1.0 / std::sqrt(config.positive_or("query_pre_attn_scalar", kQueryPreAttnScalar));
}

Traits gemma2_traits(const HfConfig& config, const ConfigDefaults& defaults) {
  Traits traits = gemma_traits(config, defaults);
  traits.norm_after = true;
  traits.names.mlp_norm = "pre_feedforward_layernorm";
  traits.score_scale = score_scale(config);
  return traits;
}

}  // namespace

Model read_gemma(const HfConfig& config, TensorFiles files) {
  Traits traits = gemma_traits(config, kGemma);
  use_rope(config, traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_gemma2(const HfConfig& config, TensorFiles files) {
  constexpr double kScoreCap = 50.0;
  constexpr double kLogitCap = 30.0;
  constexpr std::size_t kWindow = 4096;
  Traits traits = gemma2_traits(config, kGemma2);
  use_rope(config, traits);
  traits.soft_cap = soft_cap(config, "attn_logit_softcapping", kScoreCap);
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", kLogitCap);
  require_same(config.find("sliding_window_size"), config.find("sliding_window"));
  slide(
      config, sliding_window(config, kWindow), [](std::size_t layer) { return layer % 2 == 0; },
      traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_gemma3(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kPattern = 6;  // every sixth layer has global attention
  Traits traits = gemma2_traits(config, kGemma3);
  traits.query_key_norm = Presence::kYes;
  traits.soft_cap = soft_cap(config, "attn_logit_softcapping", 0.0);
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", 0.0);
  require_same(config.find("_sliding_window_pattern"), config.find("sliding_window_pattern"));
  const std::size_t pattern =
      config.size_or("sliding_window_pattern", config.size_or("_sliding_window_pattern", kPattern));
  const auto is_sliding = [listed = sliding_layers(config), pattern](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % pattern != 0;
  };
  const std::size_t window = sliding_window(config, kWindow);
  if (config.flag_or("use_bidirectional_attention", false)) {  // EmbeddingGemma
    attend_bidirectionally(traits, window / 2, is_sliding);
  } else {
    slide(config, window, is_sliding, traits);
  }

  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.base = 1e6;
  facts.kind = "full_attention";
  const auto global = std::make_shared<const Rope>(read_config_rope(config, facts));
  const auto local = std::make_shared<const Rope>(read_local_rope(config, facts));
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };
  return read_hf_decoder(std::move(files), traits);
}

namespace {

std::span<const float> of_each_layer(const JsonNode& list, std::size_t n_layers) {
  const std::span<const float> numbers = list.as_numbers();
  if (numbers.size() != n_layers) {
    list.fail(
        fmt::format("expected one for each of {} layers, found {}", n_layers, numbers.size()));
  }
  return numbers;
}

std::vector<std::size_t> mlp_widths(const HfConfig& config, std::size_t n_layers) {
  const JsonNode said = config.at("intermediate_size");
  if (said.kind() == JsonKind::kNumber) {
    return std::vector<std::size_t>(n_layers, config.size("intermediate_size"));
  }
  constexpr float kMost = 16777216.0f;  // floats represent whole numbers up to here
  std::vector<std::size_t> widths;
  for (const float width : of_each_layer(said, n_layers)) {
    if (!(width >= 1.0f && width <= kMost) || width != std::floor(width)) {
      said.fail(fmt::format("expected whole numbers from 1 to {}, found {}", kMost, width));
    }
    widths.push_back(static_cast<std::size_t>(width));
  }
  return widths;
}

std::vector<double> sparsities(const HfConfig& config, std::size_t n_layers) {
  const auto said = config.find("activation_sparsity_pattern");
  if (!said) {
    return gemma3n_sparsities(n_layers);
  }
  std::vector<double> shares;
  for (const float share : of_each_layer(*said, n_layers)) {
    if (!(share >= 0.0f && share < 1.0f)) {
      said->fail(fmt::format("expected numbers from 0 to less than 1, found {}", share));
    }
    shares.push_back(static_cast<double>(share));
  }
  return shares;
}

AltUpTraits read_altup(const HfConfig& config) {
  AltUpTraits altup;
  altup.n_streams = config.size_or("altup_num_inputs", kGemma3nStreams);
  if (altup.n_streams < 2 || altup.n_streams > kMostGemma3nStreams) {
    config.at("altup_num_inputs")
        .fail(fmt::format("expected from 2 to {}, found {}", kMostGemma3nStreams, altup.n_streams));
  }
  const auto active = config.find("altup_active_idx");
  altup.active = active ? static_cast<std::size_t>(active->as_unsigned()) : 0;
  if (altup.active >= altup.n_streams) {
    active->fail(fmt::format("expected less than altup_num_inputs, {}, found {}", altup.n_streams,
                             altup.active));
  }
  altup.input_scale = config.flag_or("altup_correct_scale", true);
  config.find("altup_coef_clip");  // used only in training
  config.find("altup_lr_multiplier");
  return altup;
}

void name_streams(TensorNames& names) {
  names.altup_enter = "altup_projections.{}";
  names.altup_leave = "altup_unembed_projections.{}";
  names.altup_norm = "altup.router_norm";
  names.altup_router = "altup.modality_router";
  names.altup_prediction = "altup.prediction_coefs";
  names.altup_correction = "altup.correction_coefs";
  names.altup_input_scale = "altup.correct_output_scale";
  names.laurel_left = "laurel.linear_left";
  names.laurel_right = "laurel.linear_right";
  names.laurel_norm = "laurel.post_laurel_norm";
}

}  // namespace

Model read_gemma3n(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kPattern = 5;  // every fifth layer has global attention
  constexpr std::size_t kWindow = 512;
  constexpr std::size_t kLayerInputs = 256;
  constexpr std::size_t kLayerVocabulary = 262144;
  constexpr std::size_t kSharing = 15;
  constexpr std::size_t kRank = 64;
  constexpr double kGlobalBase = 1e6;
  ConfigDefaults defaults{.n_heads = 8, .n_kv_heads = 2, .d_head = 256, .n_ctx = 32768};
  defaults.tied = true;
  defaults.d_ff_by_layer = true;
  Traits traits = unscaled_gemma_traits(config, defaults, kLayerInputs);
  name_streams(traits.names);
  config.find("query_pre_attn_scalar");  // scores are not scaled
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", kGemma3nLogitCap);
  traits.n_layer_vocab = config.size_or("vocab_size_per_layer_input", kLayerVocabulary);
  traits.altup = read_altup(config);
  traits.laurel_rank = config.size_or("laurel_rank", kRank);

  const auto is_sliding = [listed = sliding_layers(config)](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % kPattern != 0;
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.base = kGlobalBase;
  facts.kind = "full_attention";
  const auto global = std::make_shared<const Rope>(read_config_rope(config, facts));
  const auto local = std::make_shared<const Rope>(read_local_rope(config, facts));
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };

  const std::size_t n_own = traits.n_layers - n_sharing_layers(config, traits.n_layers, kSharing);
  traits.vary =
      [is_sliding, n_own, where = traits.where, widths = mlp_widths(config, traits.n_layers),
       shares = sparsities(config, traits.n_layers)](std::size_t layer, LayerTraits& shape) {
        shape.d_ff = widths[layer];
        shape.sparsity = shares[layer];
        if (layer >= n_own) {
          shape.keys_from = last_alike(where, n_own, is_sliding(layer), is_sliding);
        }
      };
  std::vector<HarmlessTensor> unused;
  if (n_own < traits.n_layers) {
    unused = unused_keys(traits.names);
  }
  if (!traits.altup.input_scale) {
    unused.push_back({fmt::format("layers.#.{}", traits.names.altup_input_scale),
                      "altup_correct_scale is false"});
  }
  return read_hf_decoder(std::move(files), traits, unused);
}

namespace {

// Experts beside the MLP, with their own norms and a router that reads the stream itself.
void read_gemma4_experts(const HfConfig& config, Traits& traits) {
  if (!config.flag_or("enable_moe_block", false)) {
    for (const char* key :
         {"num_experts", "top_k_experts", "expert_intermediate_size", "moe_intermediate_size"}) {
      config.find(key);  // for experts, which are off
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

// Allows bidirectional attention only for pictures.
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

// Head shapes from "per_layer_config" by layer, or in older files one for all global layers.
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

  // The last layer is global, regardless of the list.
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
