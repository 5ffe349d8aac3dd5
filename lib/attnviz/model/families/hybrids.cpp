// Granite (IBM 2024): Llama with the multipliers of its parametrisation; some sizes have experts;
// Granite 4 may have Mamba-2 instead of attention in most layers.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/readers/part_readers.h"

namespace attnviz {

namespace {

Traits granite_traits(const HfConfig& config) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  use_rope(config, traits);
  const auto multiplier = [&config](std::string_view key) {
    return static_cast<float>(config.positive_or(key, 1.0));
  };
  traits.embedding_scale = multiplier("embedding_multiplier");
  traits.branch_scale = multiplier("residual_multiplier");
  traits.score_scale = config.positive_or("attention_multiplier", 1.0);  // instead of 1 / √d_head
  traits.logit_scale = 1.0f / multiplier("logits_scaling");
  return traits;
}

void add_granite_experts(const HfConfig& config, std::size_t n_experts, Traits& traits) {
  constexpr std::size_t kUsed = 2;
  ExpertTraits& experts = traits.experts;
  experts.n = n_experts;
  experts.d_ff = traits.d_ff;
  experts.router.kind = RouterKind::kChosenSoftmax;
  experts.router.n_used = config.size_or("num_experts_per_tok", kUsed);
  traits.names.router = "block_sparse_moe.router.layer";
  traits.names.experts_gate_up = "block_sparse_moe.input_linear.weight";
  traits.names.experts_down = "block_sparse_moe.output_linear.weight";
}

void add_granite_states(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kHeads = 128;
  constexpr std::size_t kState = 256;
  constexpr std::size_t kTaps = 4;
  constexpr std::size_t kExpand = 2;
  Recurrence& shape = traits.states.shape;
  shape.kind = MixerKind::kMamba2;
  shape.n_heads = config.size_or("mamba_n_heads", kHeads);
  const std::size_t inner = config.size_or("mamba_expand", kExpand) * traits.d_model;
  const auto width = config.find("mamba_d_head");
  const bool is_said = width && width->kind() != JsonKind::kNull &&
                       !(width->kind() == JsonKind::kString && width->as_string() == "auto");
  shape.d_value =
      is_said ? config.size("mamba_d_head") : even_share(traits.where, inner, shape.n_heads);
  shape.d_key = config.size_or("mamba_d_state", kState);
  shape.n_key_heads = config.size_or("mamba_n_groups", 1);
  shape.width = config.size_or("mamba_d_conv", kTaps);
  read_step_limit(config, shape);
  traits.states.bias = present_if(config.flag_or("mamba_proj_bias", false));
  traits.states.conv_bias = present_if(config.flag_or("mamba_conv_bias", true));
  for (const char* key :
       {"mamba_chunk_size", "init_method", "time_step_min", "time_step_max", "time_step_floor"}) {
    config.find(key);  // for training, and for how it is computed
  }
  TensorNames& names = traits.names;
  names.state_in = "mamba.in_proj";
  names.state_conv = "mamba.conv1d";
  names.state_log_rate = "mamba.A_log";
  names.state_step_bias = "mamba.dt_bias";
  names.state_skip = "mamba.D";
  names.state_norm = "mamba.norm";
  names.state_out = "mamba.out_proj";
}

}  // namespace

Model read_granite(const HfConfig& config, TensorFiles files) {
  Traits traits = granite_traits(config);
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  return read_hf_decoder(std::move(files), traits);
}

Model read_granitemoe(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 8;
  Traits traits = granite_traits(config);
  add_granite_experts(config, config.size_or("num_local_experts", kExperts), traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_granitemoehybrid(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kExperts = 8;
  constexpr std::size_t kSharedWidth = 1024;
  Traits traits = granite_traits(config);
  const std::string_view positions = config.text_or("position_embedding_type", "nope");
  if (positions != "rope" && positions != "nope") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}position_embedding_type: expected rope or nope, found {}",
                            config.node().where(), in_quotes(positions)));
  }
  if (positions == "nope") {
    remove_positions(traits);
  }
  config.find("normalization_function");  // ignored
  const std::size_t shared_width = config.size_or("shared_intermediate_size", kSharedWidth);
  const auto experts = config.find("num_local_experts");  // may be 0
  const std::size_t n_experts =
      experts ? static_cast<std::size_t>(experts->as_unsigned()) : kExperts;
  if (n_experts > 0) {
    add_granite_experts(config, n_experts, traits);
    traits.experts.shared_d_ff = shared_width;
    traits.names.shared_mlp_gate_up = "shared_mlp.input_linear";
    traits.names.shared_mlp_down = "shared_mlp.output_linear";
  } else {
    config.find("num_experts_per_tok");
    traits.d_ff = shared_width;
    traits.gate_with_up = true;
    traits.names.gate_up = "shared_mlp.input_linear";
    traits.names.down = "shared_mlp.output_linear";
  }
  add_granite_states(config, traits);
  const auto listed = listed_layers(config, "layer_types", traits.n_layers, {"mamba", "attention"});
  traits.vary = [listed](std::size_t layer, LayerTraits& shape) {
    shape.has_states = !listed || (*listed)[layer] == "mamba";
  };
  return read_hf_decoder(std::move(files), traits);
}

// LFM2 (Liquid AI 2025): layers of gated convolutions between those of attention.

namespace {

// The width that a config implies: two thirds of its number, rounded up to a multiple.
std::size_t feed_forward_width(const HfConfig& config) {
  constexpr std::size_t kMultiple = 256;
  const std::size_t said = config.size({"block_ff_dim", "intermediate_size"});
  const std::size_t multiple = config.size_or("block_multiple_of", kMultiple);
  const bool is_scaled =
      config.has("block_ffn_dim_multiplier") || !config.find_or_null("block_ffn_dim_multiplier");
  const double factor = config.positive_or("block_ffn_dim_multiplier", 1.0);
  if (!config.flag_or("block_auto_adjust_ff_dim", true)) {
    return said;
  }
  const std::size_t two_thirds = 2 * said / 3;  // rounded down, as in the library
  if (!is_scaled) {
    return two_thirds;
  }
  const auto scaled = static_cast<std::size_t>(factor * static_cast<double>(two_thirds));
  return (scaled + multiple - 1) / multiple * multiple;
}

// Whether a layer has a convolution, from "layer_types" or "full_attn_idxs".
std::function<bool(std::size_t layer)> convolutions(const HfConfig& config, std::size_t n_layers) {
  const auto attention = config.find("full_attn_idxs");  // may repeat layer_types
  const auto types = config.find("layer_types");
  if (!types && !attention) {
    return [](std::size_t /*layer*/) { return false; };
  }
  if (!types) {
    const std::span<const float> listed = attention->as_numbers();
    return [listed = std::vector<float>(listed.begin(), listed.end())](std::size_t layer) {
      return std::ranges::find(listed, static_cast<float>(layer)) == listed.end();
    };
  }
  std::vector<bool> found;
  for (const JsonNode& node : types->as_list("a list of layer types")) {
    const std::string_view name = node.as_string();
    if (name != "conv" && name != "full_attention") {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected conv or full_attention, found {}", node.where(),
                              in_quotes(name)));
    }
    found.push_back(name == "conv");
  }
  if (found.size() != n_layers) {
    types->fail(fmt::format("expected a type for each layer, found {}", found.size()));
  }
  return [found = std::move(found)](std::size_t layer) { return found[layer]; };
}

}  // namespace

Model read_lfm2(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 128000;
  constexpr std::size_t kWidth = 3;
  constexpr std::size_t kKeyHeads = 8;
  constexpr double kBase = 1e6;
  for (const char* key : {"block_use_swiglu", "use_pos_enc"}) {
    if (!config.flag_or(key, true)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}{}: expected true, found false", config.node().where(), key));
    }
  }
  for (const char* key : {"block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
                          "conv_use_xavier_init"}) {
    config.find(key);  // used only in training
  }
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embed_tokens",
      .norm = "embedding_norm",
      .unembedding = "lm_head",
      .layer = "layers.{}.",
      .query = "self_attn.q_proj",
      .key = "self_attn.k_proj",
      .value = "self_attn.v_proj",
      .output = "self_attn.out_proj",
      .query_norm = "self_attn.q_layernorm",
      .key_norm = "self_attn.k_layernorm",
      .attention_norm = "operator_norm",
      .mlp_norm = "ffn_norm",
      .conv_in = "conv.in_proj",
      .conv = "conv.conv",
      .conv_out = "conv.out_proj",
      .gate = "feed_forward.w1",
      .up = "feed_forward.w3",
      .down = "feed_forward.w2",
  };
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"hidden_size", "block_dim", "conv_dim", "conv_dim_out"});
  traits.n_heads = config.size({"num_attention_heads", "num_heads"});
  traits.n_kv_heads = config.size_or("num_key_value_heads", kKeyHeads);
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = feed_forward_width(config);
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  require_same(config.find("block_norm_eps"), config.find("norm_eps"));
  traits.epsilon = config.positive_or("norm_eps", 1e-5);
  traits.query_key_norm = Presence::kYes;
  traits.convolution_bias = present_if(config.flag_or("conv_bias", false));
  require_same(config.find("tie_embedding"), config.find("tie_word_embeddings"));
  traits.tied = is_tied(config, config.flag_or("tie_embedding", true));
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = kBase;
  rope.old_base_key = "theta";
  use_rope(config, rope, traits);
  traits.vary = [is_conv = convolutions(config, traits.n_layers),
                 width = config.size_or("conv_L_cache", kWidth)](std::size_t layer,
                                                                 LayerTraits& shape) {
    shape.convolution = is_conv(layer) ? width : 0;
  };
  return read_hf_decoder(std::move(files), traits);
}

// Nemotron-H (NVIDIA 2025) and Nemotron 3: each layer is one of Mamba-2, attention without
// positions, an MLP or experts.

namespace {

enum class Part { kMamba, kAttention, kMlp, kExperts };

Part part_named(std::string_view name) {
  return name == "mamba" || name == "linear_attention"     ? Part::kMamba
         : name == "attention" || name == "full_attention" ? Part::kAttention
         : name == "mlp"                                   ? Part::kMlp
                                                           : Part::kExperts;
}

// Reads one letter for each layer.
std::vector<Part> read_pattern(const JsonNode& node, std::size_t n_layers) {
  std::vector<Part> parts;
  for (const char letter : node.as_string()) {
    constexpr std::string_view kLetters = "M*-E";
    const std::size_t place = kLetters.find(letter);
    if (place == std::string_view::npos) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected M, *, - and E, found {}", node.where(),
                              in_quotes(std::string_view(&letter, 1))));
    }
    parts.push_back(static_cast<Part>(place));
  }
  if (parts.size() != n_layers) {
    node.fail(fmt::format("expected a letter for each layer, found {}", parts.size()));
  }
  return parts;
}

std::vector<Part> read_parts(const HfConfig& config, std::size_t n_layers) {
  const auto pattern = config.find("hybrid_override_pattern");
  std::vector<Part> of_letters = pattern ? read_pattern(*pattern, n_layers) : std::vector<Part>();
  for (const char* key : {"layers_block_type", "layer_types"}) {
    const auto listed =
        listed_layers(config, key, n_layers,
                      {"mamba", "attention", "mlp", "moe", "linear_attention", "full_attention"});
    if (!listed) {
      continue;
    }
    std::vector<Part> parts;
    for (const std::string& name : *listed) {
      parts.push_back(part_named(name));
    }
    if (pattern && parts != of_letters) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}contradicts hybrid_override_pattern", config.at(key).where()));
    }
    return parts;
  }
  if (!pattern) {
    config.node().fail("hybrid_override_pattern: expected a letter for each layer, found none");
  }
  return of_letters;
}

void name_tensors(TensorNames& names) {
  names.embeddings = "embeddings";
  names.norm = "norm_f";
  names.query = "mixer.q_proj";
  names.key = "mixer.k_proj";
  names.value = "mixer.v_proj";
  names.output = "mixer.o_proj";
  names.attention_norm = "norm";
  names.state_in = "mixer.in_proj";
  names.state_conv = "mixer.conv1d";
  names.state_log_rate = "mixer.A_log";
  names.state_step_bias = "mixer.dt_bias";
  names.state_skip = "mixer.D";
  names.state_norm = "mixer.norm";
  names.state_out = "mixer.out_proj";
  names.up = "mixer.up_proj";
  names.down = "mixer.down_proj";
  names.router = "mixer.gate";
  names.choice_bias = "mixer.gate.e_score_correction_bias";
  names.expert_up = "mixer.experts.{}.up_proj";
  names.expert_down = "mixer.experts.{}.down_proj";
  names.experts_up = "mixer.experts.up_proj";
  names.experts_down = "mixer.experts.down_proj";
  names.expert_latent_in = "mixer.fc1_latent_proj";
  names.expert_latent_out = "mixer.fc2_latent_proj";
  names.shared_mlp_up = "mixer.shared_experts.up_proj";
  names.shared_mlp_down = "mixer.shared_experts.down_proj";
}

void add_nemotron_states(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kHeads = 128;
  constexpr std::size_t kWidth = 64;
  constexpr std::size_t kState = 128;
  constexpr std::size_t kGroups = 8;
  constexpr std::size_t kTaps = 4;
  if (const std::string_view name = config.text_or("mamba_hidden_act", "silu"); name != "silu") {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}mamba_hidden_act: expected silu, found {}",
                                                     config.node().where(), in_quotes(name)));
  }
  Recurrence& shape = traits.states.shape;
  shape.kind = MixerKind::kMamba2;
  shape.n_heads = config.size_or("mamba_num_heads", kHeads);
  shape.d_value = config.size_or("mamba_head_dim", kWidth);
  shape.d_key = config.size_or("ssm_state_size", kState);
  shape.n_key_heads = shape.n_norm_groups = config.size_or("n_groups", kGroups);
  shape.width = config.size_or("conv_kernel", kTaps);
  read_step_limit(config, shape);
  traits.states.bias =
      present_if(config.flag_or("use_bias", config.flag_or("mamba_proj_bias", false)));
  traits.states.conv_bias = present_if(config.flag_or("use_conv_bias", true));
  for (const char* key :
       {"expand", "chunk_size", "time_step_min", "time_step_max", "time_step_floor",
        "time_step_rank", "mamba_proj_bias", "residual_in_fp32", "rescale_prenorm_residual",
        "use_mamba_kernels", "num_logits_to_keep", "mamba_ssm_cache_dtype", "use_cache",
        "moe_shared_expert_overlap", "rope_theta", "partial_rotary_factor",
        "num_nextn_predict_layers", "mtp_hybrid_override_pattern", "mtp_layers_block_type"}) {
    config.find(key);  // for training, for how it is computed, or for absent parts
  }
}

void add_sigmoid_experts(const HfConfig& config, Traits& traits) {
  ExpertTraits& experts = traits.experts;
  experts.d_latent = config.size_if_there("moe_latent_size").value_or(0);
  experts.n = config.size("n_routed_experts");
  experts.d_ff = config.size("moe_intermediate_size");
  experts.router.kind = RouterKind::kSigmoid;
  experts.router.n_used = config.size("num_experts_per_tok");
  experts.router.normed = config.flag_or("norm_topk_prob", true);
  experts.router.scale = static_cast<float>(config.positive_or("routed_scaling_factor", 1.0));
  experts.router.n_groups = config.size_or("n_group", 1);
  experts.router.n_used_groups = config.size_or("topk_group", 1);
  experts.router.n_group_best = 2;
  experts.has_choice_bias = true;
  config.find("n_shared_experts");  // one, of the given width
  experts.shared_d_ff = config.size("moe_shared_expert_intermediate_size");
}

}  // namespace

Model read_nemotron_h(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults{.n_heads = 32, .n_kv_heads = 8, .d_head = 128, .n_ctx = 4096};
  defaults.d_ff = 21504;
  Traits traits = read_traits(config, defaults);
  if (config.has("attention_head_dim") && !config.has("head_dim")) {
    traits.d_head = config.size("attention_head_dim");
  } else {
    require_same(config.find("attention_head_dim"), config.find("head_dim"));
  }
  name_tensors(traits.names);
  require_same(config.find("norm_eps"), config.find("layer_norm_epsilon"));
  traits.epsilon = config.positive_or("layer_norm_epsilon", config.positive_or("norm_eps", 1e-5));
  traits.activation = read_activation(config, "mlp_hidden_act", "relu2");
  traits.gated = false;
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  remove_positions(traits);
  use_sliding_window(config, sliding_window(config, 0), traits);
  add_nemotron_states(config, traits);
  const std::vector<Part> parts = read_parts(config, traits.n_layers);
  if (std::ranges::find(parts, Part::kExperts) != parts.end()) {
    add_sigmoid_experts(config, traits);
  }
  traits.experts.in_layer = [parts](std::size_t layer) { return parts[layer] == Part::kExperts; };
  traits.vary = [parts](std::size_t layer, LayerTraits& shape) {
    shape.has_states = parts[layer] == Part::kMamba;
    shape.has_mlp = parts[layer] == Part::kMlp || parts[layer] == Part::kExperts;
    shape.mixes = !shape.has_mlp;
  };
  return read_hf_decoder(std::move(files), traits, {{"mtp.*", kMultiToken}});
}

}  // namespace attnviz
