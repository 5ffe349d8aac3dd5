// Qwen 2 (Yang et al. 2024): biases on queries, keys and values. Qwen 3 (2025): norms of each
// head's queries and keys instead. Both have a form with experts. Qwen 2-VL to 3-VL (Wang et al.
// 2024, Bai et al. 2025): only the text part. Qwen3-Next (Qwen Team 2025) and Qwen 3.5 (2026):
// gated delta nets in most layers, attention with gated head outputs in the others; both have a
// form with experts.
#include <fmt/core.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/readers/part_readers.h"

namespace attnviz {

namespace {

// The defaults of the family's library.
struct QwenDefaults {
  ConfigDefaults sizes;
  double base = RopeFacts().base;
  std::size_t first_sliding = 28;
  bool has_pictures = false;
};

void read_windows(const HfConfig& config, std::size_t first_sliding, Traits& traits) {
  constexpr std::size_t kWindow = 4096;
  // Configs contain these keys even if the window is off.
  const std::size_t window = sliding_window(config, kWindow);
  const std::optional<JsonNode> first = config.find_or_null("max_window_layers");  // may be 0
  if (!config.flag_or("use_sliding_window", false)) {
    require_none_sliding(config, "use_sliding_window, which is false");
    return;
  }
  const bool is_first_used = window != 0 && !config.has("layer_types");
  const std::size_t from =
      first && is_first_used ? static_cast<std::size_t>(first->as_unsigned()) : first_sliding;
  slide(
      config, window, [from](std::size_t layer) { return layer >= from; }, traits);
}

// An et al. 2024: in texts longer than a chunk, tokens of other chunks have other positions.
void read_chunks(const HfConfig& config, Traits& traits) {
  const auto chunks = config.object("dual_chunk_attention_config");
  if (!chunks) {
    return;
  }
  constexpr std::size_t kChunk = 8192;
  constexpr std::size_t kLocal = 1024;
  const std::size_t chunk = chunks->size_or("chunk_size", kChunk);
  const std::size_t local = chunks->size_or("local_size", kLocal);
  chunks->find("original_max_position_embeddings");  // for scaling in longer texts
  if (local >= chunk) {
    chunks->node().fail(
        fmt::format("expected local_size below chunk_size {}, found {}", chunk, local));
  }
  traits.most_tokens = chunk - local;
}

Traits qwen_traits(const HfConfig& config, const QwenDefaults& defaults) {
  Traits traits = read_traits(config, defaults.sizes);
  traits.activation = read_activation(config, "hidden_act", "silu");
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = defaults.base;
  rope.has_sections = defaults.has_pictures;
  use_rope(config, rope, traits);
  read_windows(config, defaults.first_sliding, traits);
  read_chunks(config, traits);
  return traits;
}

// Sets which layers have experts, and the experts' common properties.
void add_experts(const HfConfig& config, std::size_t n_experts, std::size_t n_used,
                 std::size_t d_ff, Traits& traits) {
  ExpertTraits& experts = traits.experts;
  const auto said = config.find("num_experts");  // 0: none
  experts.n = said ? static_cast<std::size_t>(said->as_unsigned()) : n_experts;
  experts.d_ff = config.size_or("moe_intermediate_size", d_ff);
  experts.router.n_used = config.size_or("num_experts_per_tok", n_used);
  experts.router.normed = config.flag_or("norm_topk_prob", false);
  experts.in_layer = sparse_layers(config);
  traits.names.router = "mlp.gate";
  name_experts(traits.names);
}

Model read_any_qwen2(const HfConfig& config, TensorFiles files, const QwenDefaults& defaults) {
  Traits traits = qwen_traits(config, defaults);
  traits.qkv_bias = Presence::kYes;
  config.find("attention_bias");  // ignored
  return read_hf_decoder(std::move(files), traits);
}

Model read_any_qwen3(const HfConfig& config, TensorFiles files, const QwenDefaults& defaults) {
  Traits traits = qwen_traits(config, defaults);
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.query_key_norm = Presence::kYes;
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace

Model read_qwen2(const HfConfig& config, TensorFiles files) {
  return read_any_qwen2(config, std::move(files), {.sizes = {.n_kv_heads = 32, .n_ctx = 32768}});
}

Model read_qwen2_vl(const HfConfig& config, TensorFiles files) {
  return read_any_qwen2(config, std::move(files),
                        {.sizes = {.n_kv_heads = 8, .n_ctx = 32768, .epsilon = 1e-5},
                         .base = 1e6,
                         .first_sliding = 80,
                         .has_pictures = true});
}

Model read_qwen2_moe(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 60;
  constexpr std::size_t kUsed = 4;
  constexpr std::size_t kWidth = 1408;
  constexpr std::size_t kSharedWidth = 5632;
  Traits traits = qwen_traits(config, {.sizes = {.n_kv_heads = 16, .n_ctx = 32768}});
  traits.qkv_bias = present_if(config.flag_or("qkv_bias", true));
  add_experts(config, kExperts, kUsed, kWidth, traits);
  traits.experts.shared_d_ff = config.size_or("shared_expert_intermediate_size", kSharedWidth);
  traits.experts.has_shared_gate = true;
  traits.names.shared_gate = "mlp.shared_expert_gate";
  traits.names.shared_mlp_gate = "mlp.shared_expert.gate_proj";
  traits.names.shared_mlp_up = "mlp.shared_expert.up_proj";
  traits.names.shared_mlp_down = "mlp.shared_expert.down_proj";
  return read_hf_decoder(std::move(files), traits);
}

Model read_qwen3_moe(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 128;
  constexpr std::size_t kUsed = 8;
  constexpr std::size_t kWidth = 768;
  Traits traits = qwen_traits(config, {.sizes = {.n_kv_heads = 4, .n_ctx = 32768}});
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.query_key_norm = Presence::kYes;
  add_experts(config, kExperts, kUsed, kWidth, traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_qwen3(const HfConfig& config, TensorFiles files) {
  return read_any_qwen3(config, std::move(files),
                        {.sizes = {.n_kv_heads = 32, .d_head = 128, .n_ctx = 32768}});
}

Model read_qwen3_vl(const HfConfig& config, TensorFiles files) {
  return read_any_qwen3(config, std::move(files),
                        {.sizes = {.n_kv_heads = 32, .d_head = 128, .n_ctx = 128000},
                         .base = 5e5,
                         .has_pictures = true});
}

namespace {

// Which layers have a gated delta net: "layer_types", or all but every n-th.
std::function<bool(std::size_t layer)> delta_layers(const HfConfig& config, std::size_t n_layers) {
  constexpr std::size_t kInterval = 4;
  const std::size_t interval = config.size_or("full_attention_interval", kInterval);
  const auto listed =
      listed_layers(config, "layer_types", n_layers, {"linear_attention", "full_attention"});
  return [listed, interval](std::size_t layer) {
    return listed ? (*listed)[layer] == "linear_attention" : (layer + 1) % interval != 0;
  };
}

void add_delta_nets(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kKeyHeads = 16;
  constexpr std::size_t kValueHeads = 32;
  constexpr std::size_t kWidth = 128;
  constexpr std::size_t kTaps = 4;
  Recurrence& shape = traits.states.shape;
  shape.kind = MixerKind::kGatedDelta;
  shape.n_key_heads = config.size_or("linear_num_key_heads", kKeyHeads);
  shape.n_heads = shape.n_norm_groups = config.size_or("linear_num_value_heads", kValueHeads);
  shape.d_key = config.size_or("linear_key_head_dim", kWidth);
  shape.d_value = config.size_or("linear_value_head_dim", kWidth);
  shape.width = config.size_or("linear_conv_kernel_dim", kTaps);
  TensorNames& names = traits.names;
  names.state_conv = "linear_attn.conv1d";
  names.state_log_rate = "linear_attn.A_log";
  names.state_step_bias = "linear_attn.dt_bias";
  names.state_norm = "linear_attn.norm";
  names.state_out = "linear_attn.out_proj";
  traits.vary = [is_delta = delta_layers(config, traits.n_layers)](std::size_t layer,
                                                                   LayerTraits& shape_of_layer) {
    shape_of_layer.has_states = is_delta(layer);
  };
}

Traits hybrid_traits(const HfConfig& config, ConfigDefaults defaults) {
  constexpr double kRotated = 0.25;
  defaults.d_head = 256;
  defaults.n_ctx = 32768;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.query_key_norm = Presence::kYes;
  traits.norm_offset = 1.0f;
  traits.gated_output = config.flag_or("attn_output_gate", true);
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.rotated_share = kRotated;
  rope.has_sections = true;
  use_rope(config, rope, traits);
  add_delta_nets(config, traits);
  for (const char* key : {"use_sliding_window", "mamba_ssm_dtype", "mtp_num_hidden_layers",
                          "mtp_use_dedicated_embeddings"}) {
    config.find(key);  // unused in these models, for precision, or for multi-token prediction
  }
  if (const auto outer = config.outer()) {
    outer->find("language_model_only");  // for the vision part
  }
  return traits;
}

void add_gated_experts(const HfConfig& config, std::size_t n_experts, std::size_t n_used,
                       Traits& traits) {
  constexpr std::size_t kWidth = 512;
  ExpertTraits& experts = traits.experts;
  experts.n = config.size_or("num_experts", n_experts);
  experts.d_ff = config.size_or("moe_intermediate_size", kWidth);
  experts.router.n_used = config.size_or("num_experts_per_tok", n_used);
  experts.router.normed = config.flag_or("norm_topk_prob", true);
  experts.shared_d_ff = config.size_or("shared_expert_intermediate_size", kWidth);
  experts.has_shared_gate = true;
  traits.names.router = "mlp.gate";
  name_experts(traits.names);
  traits.names.shared_gate = "mlp.shared_expert_gate";
  traits.names.shared_mlp_gate = "mlp.shared_expert.gate_proj";
  traits.names.shared_mlp_up = "mlp.shared_expert.up_proj";
  traits.names.shared_mlp_down = "mlp.shared_expert.down_proj";
}

void name_split_inputs(TensorNames& names) {
  names.state_qkv = "linear_attn.in_proj_qkv";
  names.state_z = "linear_attn.in_proj_z";
  names.state_step = "linear_attn.in_proj_a";
  names.state_beta = "linear_attn.in_proj_b";
}

Model read_model(TensorFiles files, const Traits& traits) {
  return read_hf_decoder(std::move(files), traits, {{"mtp.*", kMultiToken}});
}

}  // namespace

Model read_qwen3_next(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 512;
  constexpr std::size_t kUsed = 10;
  Traits traits = hybrid_traits(config, {.n_kv_heads = 2, .d_ff = 5632});
  traits.names.state_qkvz = "linear_attn.in_proj_qkvz";
  traits.names.state_ba = "linear_attn.in_proj_ba";
  add_gated_experts(config, kExperts, kUsed, traits);
  traits.experts.in_layer = sparse_layers(config);
  return read_model(std::move(files), traits);
}

Model read_qwen3_5(const HfConfig& config, TensorFiles files) {
  Traits traits = hybrid_traits(config, {.n_kv_heads = 4, .d_ff = 12288});
  name_split_inputs(traits.names);
  config.find("mlp_only_layers");  // all layers have experts
  return read_model(std::move(files), traits);
}

Model read_qwen3_5_moe(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 256;
  constexpr std::size_t kUsed = 8;
  Traits traits = hybrid_traits(config, {.n_kv_heads = 2, .d_ff = 512});
  name_split_inputs(traits.names);
  add_gated_experts(config, kExperts, kUsed, traits);
  config.find("mlp_only_layers");  // no layer has experts
  return read_model(std::move(files), traits);
}

}  // namespace attnviz
