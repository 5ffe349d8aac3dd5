// Granite (IBM 2024): Llama with multipliers in place of what its parametrisation needs; of some
// sizes with experts; of Granite 4 with Mamba-2 in most layers' attention's place.

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"
#include "attnviz/model/families/readers/part_readers.h"

namespace attnviz {

namespace {

Traits granite_traits(const HfConfig& config) {
  ConfigDefaults defaults;
  defaults.n_ctx = 2048;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  rotate_all(config, traits);
  const auto multiplier = [&config](std::string_view key) {
    return static_cast<float>(config.positive_or(key, 1.0));
  };
  traits.embedding_scale = multiplier("embedding_multiplier");
  traits.branch_scale = multiplier("residual_multiplier");
  traits.score_scale = config.positive_or("attention_multiplier", 1.0);  // in place of 1 / √d_head
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
    config.find(key);  // of training and of how it is computed
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
                            config.node().where(), quoted(positions)));
  }
  if (positions == "nope") {
    remove_positions(traits);
  }
  config.find("normalization_function");  // whatever it says
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

}  // namespace attnviz
