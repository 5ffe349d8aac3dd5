#include "attnviz/model/families/gguf/gguf_families.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {

std::span<const GgufArchitecture> gguf_architectures() noexcept {
  static constexpr GgufArchitecture kArchitectures[] = {
      {"bert", "bert", read_gguf_bert},
      {"bloom", "bloom", read_gguf_bloom},
      {"chatglm", "glm", read_gguf_chatglm},
      {"cohere2", "cohere2", read_gguf_cohere2},
      {"command-r", "cohere", read_gguf_command_r},
      {"deepseek2", "deepseek_v2", read_gguf_deepseek2},
      {"falcon", "falcon", read_gguf_falcon},
      {"falcon-h1", "falcon_h1", read_gguf_falcon_h1},
      {"gemma", "gemma", read_gguf_gemma},
      {"gemma-embedding", "gemma3_text", read_gguf_gemma_embedding},
      {"gemma2", "gemma2", read_gguf_gemma2},
      {"gemma3", "gemma3", read_gguf_gemma3},
      {"gemma3n", "gemma3n", read_gguf_gemma3n},
      {"gemma4", "gemma4", read_gguf_gemma4},
      {"glm4", "glm4", read_gguf_glm4},
      {"gpt-oss", "gpt_oss", read_gguf_gpt_oss},
      {"gptoss", "gpt_oss", read_gguf_gpt_oss},
      {"gpt2", "gpt2", read_gguf_gpt2},
      {"gptneox", "gpt_neox", read_gguf_gptneox},
      {"granite", "granite", read_gguf_granite},
      {"granitemoe", "granitemoe", read_gguf_granitemoe},
      {"granitehybrid", "granitemoehybrid", read_gguf_granitehybrid},
      {"hunyuan-dense", "hunyuan_v1_dense", read_gguf_hunyuan_dense},
      {"lfm2", "lfm2", read_gguf_lfm2},
      {"llama", "llama", read_gguf_llama},
      {"minicpm", "minicpm", read_gguf_minicpm},
      {"mistral3", "mistral3", read_gguf_mistral3},
      {"modern-bert", "modernbert", read_gguf_modern_bert},
      {"nemotron_h", "nemotron_h", read_gguf_nemotron_h},
      {"nemotron_h_moe", "nemotron_h", read_gguf_nemotron_h},
      {"nomic-bert", "nomic_bert", read_gguf_nomic_bert},
      {"olmo2", "olmo2", read_gguf_olmo2},
      {"phi2", "phi", read_gguf_phi2},
      {"phi3", "phi3", read_gguf_phi3},
      {"qwen2", "qwen2", read_gguf_qwen2},
      {"qwen2moe", "qwen2_moe", read_gguf_qwen2moe},
      {"qwen2vl", "qwen2_vl", read_gguf_qwen2vl},
      {"qwen3", "qwen3", read_gguf_qwen3},
      {"qwen35", "qwen3_5", read_gguf_qwen3next},
      {"qwen35moe", "qwen3_5_moe", read_gguf_qwen3next},
      {"qwen3moe", "qwen3_moe", read_gguf_qwen3moe},
      {"qwen3next", "qwen3_next", read_gguf_qwen3next},
      {"qwen3vl", "qwen3_vl", read_gguf_qwen3vl},
      {"smollm3", "smollm3", read_gguf_smollm3},
      {"stablelm", "stablelm", read_gguf_stablelm},
      {"starcoder2", "starcoder2", read_gguf_starcoder2},
      {"t5", "t5", read_gguf_t5},
  };
  return kArchitectures;
}

namespace {

constexpr TensorNames kNames = {
    .embeddings = "token_embd",
    .positions = "position_embd",
    .segments = "token_types",
    .embedding_norm = "token_embd_norm",
    .norm = "output_norm",
    .unembedding = "output",
    .layer = "blk.{}.",
    .query = "attn_q",
    .key = "attn_k",
    .value = "attn_v",
    .qkv = "attn_qkv",
    .output = "attn_output",
    .query_norm = "attn_q_norm",
    .key_norm = "attn_k_norm",
    .attention_norm = "attn_norm",
    .after_attention_norm = "post_attention_norm",
    .mlp_norm = "ffn_norm",
    .after_mlp_norm = "post_ffw_norm",
    .conv_in = "shortconv.in_proj",
    .conv = "shortconv.conv",
    .conv_out = "shortconv.out_proj",
    .layer_embeddings = "per_layer_token_embd",
    .layer_projection = "per_layer_model_proj",
    .layer_projection_norm = "per_layer_proj_norm",
    .input_gate = "inp_gate",
    .input_projection = "proj",
    .input_norm = "post_norm",
    .result_scale = "layer_output_scale.weight",
    .altup_enter = "altup_proj.weight",
    .altup_leave = "altup_unembd_proj.weight",
    .altup_norm = "altup_router_norm",
    .altup_router = "altup_router",
    .altup_prediction = "altup_predict_coef",
    .altup_correction = "altup_correct_coef",
    .altup_input_scale = "altup_correct_scale.weight",
    .laurel_left = "laurel_l",
    .laurel_right = "laurel_r",
    .laurel_norm = "laurel_post_norm",
    .gate = "ffn_gate",
    .up = "ffn_up",
    .down = "ffn_down",
    .gate_up = "ffn_up",
};

void require_no_experts(const GgufMetadata& metadata, const GgufKeys& key) {
  const std::string experts = key("expert_count");
  if (metadata.id(experts).value_or(0) > 0) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected none: experts of this architecture are not read",
                            gguf_where(metadata), experts));
  }
}

// Reads sizes that may differ between layers.
void read_shapes(const GgufMetadata& metadata, const GgufKeys& key, bool may_have_experts,
                 Traits& traits) {
  const std::string width = key("feed_forward_length");
  const SizesOfLayers d_ff = metadata.has(width) || !may_have_experts
                                 ? SizesOfLayers(metadata, width, 0)
                                 : SizesOfLayers();
  const SizesOfLayers heads(metadata, key("attention.head_count"), 1);
  const std::string kv = key("attention.head_count_kv");
  const SizesOfLayers kv_heads = metadata.has(kv) ? SizesOfLayers(metadata, kv, 0) : heads;
  traits.d_ff = d_ff.largest();
  traits.n_heads = heads.largest();
  traits.n_kv_heads = kv_heads.largest();
  traits.vary = [d_ff, heads, kv_heads](std::size_t layer, LayerTraits& shape) {
    shape.d_ff = d_ff[layer];
    shape.n_heads = heads[layer];
    shape.n_kv_heads = kv_heads[layer];
  };
}

std::size_t head_width(const GgufMetadata& metadata, const GgufKeys& key, const Traits& traits) {
  const std::string key_length = key("attention.key_length");
  const std::string value_length = key("attention.value_length");
  const std::size_t d_head =
      metadata.has(key_length)
          ? metadata.size(key_length)
          : even_share(fmt::format("{}{}: ", traits.where, key("attention.head_count")),
                       traits.d_model, traits.n_heads);
  if (const std::size_t d_value = metadata.size_or(value_length, d_head); d_value != d_head) {
    metadata.fail(value_length,
                  fmt::format("expected {} as {} says, found {}", d_head, key_length, d_value));
  }
  return d_head;
}

// llama.cpp's numbers: softmax over all experts, sigmoid, softmax over the chosen ones.
void require_gating(const GgufMetadata& metadata, const std::string& key, RouterKind kind) {
  constexpr std::uint32_t kSoftmax = 1;
  constexpr std::uint32_t kSigmoid = 2;
  constexpr std::uint32_t kOfChosen = 3;
  const std::uint32_t said = metadata.id(key).value_or(0);
  const bool agrees = kind == RouterKind::kSigmoid         ? said == kSigmoid
                      : kind == RouterKind::kChosenSoftmax ? said == kSoftmax || said == kOfChosen
                                                           : said == kSoftmax;
  if (said != 0 && !agrees) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{} {}: another router than that of this family",
                            gguf_where(metadata), key, said));
  }
}

// Checks that the last layers have tensors of multi-token prediction; without them, the key is
// wrong.
void require_ahead(const GgufMetadata& metadata, const WeightReader& weights, std::size_t first,
                   std::size_t n_all) {
  for (std::size_t i = first; i < n_all; ++i) {
    if (weights.has(fmt::format("blk.{}.attn_norm.weight", i)) &&
        !weights.has(fmt::format("blk.{}.nextn.eh_proj.weight", i))) {
      metadata.fail(GgufKeys(metadata)("nextn_predict_layers"),
                    fmt::format("blk.{} has no nextn tensors: it is a layer like the others", i));
    }
  }
}

}  // namespace

Traits gguf_traits(const GgufMetadata& metadata, WeightReader& weights, NormKind norm_kind,
                   bool may_have_experts, bool has_latents) {
  const GgufKeys key(metadata);
  if (!may_have_experts) {
    require_no_experts(metadata, key);
  }
  Traits traits;
  traits.where = gguf_where(metadata);
  traits.names = kNames;
  const std::size_t n_all = metadata.size(key("block_count"));
  if (n_all > kMostLayers) {
    metadata.fail(key("block_count"),
                  fmt::format("expected at most {}, found {}", kMostLayers, n_all));
  }
  traits.n_layers = n_all - n_nextn_layers(metadata);
  require_ahead(metadata, weights, traits.n_layers, n_all);
  weights.pass_over(layers_ahead("blk.{}.*", traits.n_layers, n_all - traits.n_layers));
  traits.d_model = metadata.size(key("embedding_length"));
  read_shapes(metadata, key, may_have_experts, traits);
  traits.d_head = has_latents ? 0 : head_width(metadata, key, traits);
  traits.n_ctx = metadata.size(key("context_length"));
  traits.norm_kind = norm_kind;
  const std::string of_rms = key("attention.layer_norm_rms_epsilon");
  const std::string of_layer = key("attention.layer_norm_epsilon");
  traits.epsilon = metadata.positive(norm_kind == NormKind::kRms ? of_rms : of_layer);
  metadata.number_or(norm_kind == NormKind::kRms ? of_layer : of_rms, 0.0);  // may repeat it
  if (weights.has("blk.0.attn_qkv.weight")) {
    traits.qkv = QkvStorage::kStacked;
  }
  traits.qkv_bias = Presence::kOptional;
  traits.tied = !weights.has("output.weight");
  return traits;
}

void read_gguf_experts(const GgufMetadata& metadata, const WeightReader& weights,
                       ExpertTraits experts, Traits& traits) {
  const GgufKeys key(metadata);
  experts.n = metadata.id(key("expert_count")).value_or(0);
  if (experts.n == 0) {
    return;
  }
  require_gating(metadata, key("expert_gating_func"), experts.router.kind);
  experts.router.n_used = metadata.size(key("expert_used_count"));
  experts.d_ff = metadata.size_or(key("expert_feed_forward_length"), traits.d_ff);
  traits.experts = std::move(experts);
  TensorNames& names = traits.names;
  names.router = "ffn_gate_inp";
  names.shared_gate = "ffn_gate_inp_shexp";
  names.shared_mlp_gate = "ffn_gate_shexp";
  names.shared_mlp_up = "ffn_up_shexp";
  names.shared_mlp_down = "ffn_down_shexp";
  if (weights.has("blk.0.ffn_gate.0.weight")) {
    names.expert_gate = "ffn_gate.{}";
    names.expert_up = "ffn_up.{}";
    names.expert_down = "ffn_down.{}";
  }
  names.experts_gate = "ffn_gate_exps.weight";
  names.experts_up = "ffn_up_exps.weight";
  names.experts_gate_up = "ffn_gate_up_exps.weight";
  names.experts_down = "ffn_down_exps.weight";
  names.experts_gate_bias = "ffn_gate_exps.bias";
  names.experts_up_bias = "ffn_up_exps.bias";
  names.experts_gate_up_bias = "ffn_gate_up_exps.bias";
  names.experts_down_bias = "ffn_down_exps.bias";
}

void use_rope(const GgufMetadata& metadata, WeightReader& weights, Traits& traits,
              RopePairing pairing, bool has_factors) {
  const GgufRopeFacts facts{traits.d_head, traits.n_ctx, pairing, has_factors};
  traits.rope = [rope = read_gguf_rope(metadata, weights, facts)](std::size_t /*layer*/) {
    return rope;
  };
}

IsSliding all_but_every(std::size_t n) {
  return [n](std::size_t layer) { return (layer + 1) % n != 0; };
}

IsSliding sliding_pattern(const GgufMetadata& metadata, std::size_t otherwise) {
  const std::string key = GgufKeys(metadata)("attention.sliding_window_pattern");
  const GgufValue* const value = metadata.find(key);
  if (value == nullptr || value->type() != GgufType::kArray) {
    return all_but_every(metadata.size_or(key, otherwise));
  }
  require_each_layer(metadata, key, value->size());
  std::vector<bool> listed = metadata.flags(key);
  return [listed = std::move(listed)](std::size_t layer) { return listed[layer]; };
}

void slide(const GgufMetadata& metadata, std::size_t otherwise, const IsSliding& is_sliding,
           Traits& traits) {
  const std::string key = GgufKeys(metadata)("attention.sliding_window");
  const std::size_t window = metadata.has(key) ? metadata.id(key).value_or(0) : otherwise;
  if (window == 0) {
    return;
  }
  const Mask sliding{MaskKind::kWindow, window};
  traits.mask = [sliding, is_sliding](std::size_t layer) {
    return is_sliding(layer) ? std::optional(sliding) : std::nullopt;
  };
}

double scale_of(const GgufMetadata& metadata, std::string_view name, double neutral) {
  const std::string key = GgufKeys(metadata)(name);
  return metadata.number_or(key, neutral) == neutral ? neutral : metadata.positive(key);
}

}  // namespace attnviz
