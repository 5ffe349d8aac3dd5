// Command R (Cohere 2024): layer norms without biases, attention and MLP in parallel from one of
// them, scaled logits. Command R7B (Cohere 2 2024): windows with rotary positions, and every fourth
// layer without both. GLM (GLM Team 2024, "ChatGLM"): Llama with a fused MLP and rotary positions
// that pair neighbouring dimensions of one half of each head. GLM-4 of April 2025 also norms the
// outputs of attention and MLP. HunYuan (Tencent 2025), the dense models: Llama with norms of each
// head's queries and keys after the rotation, whose base is stretched for long texts. OLMo 2 (Walsh
// et al. 2024): norms of the outputs of attention and MLP instead of their inputs, and norms over
// all heads' queries, and keys, together. OLMo 3 (2025): windows in three of four layers, YaRN in
// the others. Mixtral (Jiang et al. 2024): Mistral with experts instead of MLPs. StableLM 3B and 2
// (Bellagente et al. 2024): layer norms, rotary positions in a part of each head. StarCoder 2
// (Lozhkov et al. 2024): layer norms and biases everywhere, an MLP without a gate, a sliding
// window. Phi-1 to Phi-2 (Gunasekar et al. 2023, Li et al. 2023): attention and MLP in parallel
// from one layer norm, rotary positions in a part of each head. Phi-3 (Abdin et al. 2024): Llama
// with fused matrices.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

namespace {

Traits cohere_traits(const HfConfig& config) {
  constexpr double kEpsilon = 1e-5;
  constexpr double kLogitScale = 0.0625;
  ConfigDefaults defaults;
  defaults.n_ctx = 8192;
  defaults.tied = true;
  Traits traits = read_traits(config, defaults);
  traits.n_ctx = std::max(traits.n_ctx, config.size_or("model_max_length", traits.n_ctx));
  norm_layers(traits, Presence::kNo, config.positive_or("layer_norm_eps", kEpsilon));
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.logit_scale = static_cast<float>(config.positive_or("logit_scale", kLogitScale));
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.pairing = RopePairing::kNeighbours;
  rope.old_share_key = "rotary_pct";
  use_rope(config, rope, traits);
  return traits;
}

}  // namespace

Model read_cohere(const HfConfig& config, TensorFiles files) {
  Traits traits = cohere_traits(config);
  traits.query_key_norm = present_if(config.flag_or("use_qk_norm", false));
  traits.head_norms = HeadNorms::kOfEach;
  return read_hf_decoder(std::move(files), traits);
}

Model read_cohere2(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kPattern = 4;
  Traits traits = cohere_traits(config);
  for (const char* key : {"use_gated_activation", "use_parallel_block"}) {
    require(config, key, "true");
  }
  require(config, "position_embedding_type", "\"rope_gptj\"");
  require(config, "order_of_interleaved_layers", "\"local_attn_first\"");
  require_same(config.find("use_embedding_sharing"), config.find("tie_word_embeddings"));
  require_same(config.find("layer_switch"), config.find("sliding_window_pattern"));
  require_same(config.find("_sliding_window_pattern"), config.find("sliding_window_pattern"));
  config.find("use_parallel_embedding");  // used only in training
  const std::size_t pattern = config.size_or(
      "sliding_window_pattern",
      config.size_or("_sliding_window_pattern", config.size_or("layer_switch", kPattern)));
  const auto is_sliding = [listed = sliding_layers(config), pattern](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % pattern != 0;
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  keep_unrotated([is_sliding](std::size_t layer) { return !is_sliding(layer); }, traits);
  return read_hf_decoder(std::move(files), traits);
}

namespace {

Traits glm_traits(const HfConfig& config) {
  constexpr double kRotatedShare = 0.5;
  ConfigDefaults defaults;
  defaults.n_kv_heads = 2;
  defaults.d_head = 128;
  defaults.n_ctx = 131072;
  defaults.epsilon = 1.5625e-7;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = present_if(config.flag_or("attention_bias", true));
  traits.gate_with_up = true;
  RopeFacts rope{traits.d_head, traits.n_ctx, kRotatedShare};
  rope.pairing = RopePairing::kNeighbours;
  use_rope(config, rope, traits);
  return traits;
}

}  // namespace

Model read_glm(const HfConfig& config, TensorFiles files) {
  return read_hf_decoder(std::move(files), glm_traits(config));
}

Model read_glm4(const HfConfig& config, TensorFiles files) {
  Traits traits = glm_traits(config);
  traits.norm_after = true;
  traits.names.after_attention_norm = "post_self_attn_layernorm";
  traits.names.after_mlp_norm = "post_mlp_layernorm";
  return read_hf_decoder(std::move(files), traits);
}

Model read_hunyuan_dense(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.names.query_norm = "self_attn.query_layernorm";
  traits.names.key_norm = "self_attn.key_layernorm";
  traits.query_key_norm = Presence::kYes;
  traits.norms_turned_heads = true;
  // The code published with the first models can leave these out, or share keys between layers.
  require(config, "use_qk_norm", "true");
  require(config, "use_rotary_pos_emb", "true");
  require(config, "use_cla", "false");
  require(config, "norm_type", R"("rms")");
  require(config, "position_embedding_xdrope", "false");
  for (const char* key : {"cla_share_factor", "attention_head_dim", "org_vocab_size"}) {
    config.find(key);  // for these options, or given by other keys
  }
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.has_alpha = true;
  use_rope(config, rope, traits);
  return read_hf_decoder(std::move(files), traits);
}

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
  use_rope(config, rope, traits);
  return traits;
}

// Scaled only if newer configs set a scaling for these layers alone.
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

Model read_mixtral(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_kv_heads = 8;
  defaults.n_ctx = 131072;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = 1e6;
  use_rope(config, rope, traits);
  use_sliding_window(config, sliding_window(config, 0), traits);
  ExpertTraits& experts = traits.experts;
  experts.n = config.size_or("num_local_experts", 8);
  experts.d_ff = traits.d_ff;
  experts.router.kind = RouterKind::kChosenSoftmax;
  experts.router.n_used = config.size_or("num_experts_per_tok", 2);
  TensorNames& names = traits.names;
  if (files.find("model.layers.0.mlp.gate.weight") || files.find("layers.0.mlp.gate.weight")) {
    names.router = "mlp.gate";  // transformers 5's name in memory
    name_experts(names);
  } else {
    names.router = "block_sparse_moe.gate";
    names.expert_gate = "block_sparse_moe.experts.{}.w1";
    names.expert_up = "block_sparse_moe.experts.{}.w3";
    names.expert_down = "block_sparse_moe.experts.{}.w2";
  }
  return read_hf_decoder(std::move(files), traits);
}

Model read_stablelm(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.25;
  ConfigDefaults defaults;
  defaults.n_heads = defaults.n_kv_heads = 32;
  defaults.n_ctx = 4096;
  Traits traits = read_traits(config, defaults);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_eps", 1e-5));
  // Names in the family's first code: the library reads others instead.
  for (const char* key : {"norm_eps", "num_heads"}) {
    config.find(key);
  }
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = present_if(config.flag_or("use_qkv_bias", false));
  if (config.flag_or("use_parallel_residual", false)) {
    traits.order = LayerOrder::kParallel;
    traits.one_norm = true;
  }
  traits.query_key_norm = present_if(config.flag_or("qk_layernorm", false));
  traits.head_norms = HeadNorms::kOfEach;
  traits.names.query_norm = "self_attn.q_layernorm.norms.{}";
  traits.names.key_norm = "self_attn.k_layernorm.norms.{}";
  RopeFacts rope{traits.d_head, traits.n_ctx, kRotatedShare};
  rope.old_share_key = "rope_pct";
  use_rope(config, rope, traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_starcoder2(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_heads = 24;
  defaults.n_kv_heads = 2;
  defaults.n_ctx = 4096;
  defaults.tied = true;
  Traits traits = read_traits(config, defaults);
  // Keys of the first StarCoder, left in these configs: the library reads others instead.
  for (const char* key : {"activation_function", "layer_norm_epsilon", "scale_attn_weights",
                          "scale_attention_softmax_in_fp32"}) {
    config.find(key);
  }
  traits.names.up = "mlp.c_fc";
  traits.names.down = "mlp.c_proj";
  norm_layers(traits, Presence::kYes, config.positive_or("norm_epsilon", 1e-5));
  set_biases(traits, present_if(config.flag_or("use_bias", true)));
  traits.gated = false;
  traits.activation = read_activation(config, "hidden_act", "gelu_pytorch_tanh");
  use_rope(config, traits);
  use_sliding_window(config, sliding_window(config, 0), traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_phi(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.5;
  ConfigDefaults defaults;
  defaults.n_heads = 32;
  defaults.n_ctx = 2048;
  Traits traits = read_traits(config, defaults);
  traits.names.output = "self_attn.dense";
  traits.names.query_norm = "self_attn.q_layernorm";
  traits.names.key_norm = "self_attn.k_layernorm";
  traits.names.up = "mlp.fc1";
  traits.names.down = "mlp.fc2";
  traits.names.norm = "final_layernorm";
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_eps", 1e-5));
  set_biases(traits, Presence::kYes);
  traits.unembedding_bias = Presence::kYes;
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.gated = false;
  traits.activation = read_activation(config, "hidden_act", "gelu_new");
  traits.query_key_norm = present_if(config.flag_or("qk_layernorm", false));
  use_rope(config, {traits.d_head, traits.n_ctx, kRotatedShare}, traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_phi3(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_ctx = defaults.original_n_ctx = 4096;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv = QkvStorage::kStacked;
  traits.gate_with_up = true;
  use_rope(config, traits);
  use_sliding_window(config, sliding_window(config, 0), traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
