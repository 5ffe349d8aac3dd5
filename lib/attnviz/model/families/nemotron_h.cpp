// Nemotron-H (NVIDIA 2025) and Nemotron 3: each layer is one of Mamba-2, attention without
// positions, an MLP or experts.

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"
#include "attnviz/model/families/readers/part_readers.h"

namespace attnviz {

namespace {

enum class Part { kMamba, kAttention, kMlp, kExperts };

Part part_named(std::string_view name) {
  return name == "mamba" || name == "linear_attention"     ? Part::kMamba
         : name == "attention" || name == "full_attention" ? Part::kAttention
         : name == "mlp"                                   ? Part::kMlp
                                                           : Part::kExperts;
}

// A letter for each layer.
std::vector<Part> read_pattern(const JsonNode& node, std::size_t n_layers) {
  std::vector<Part> parts;
  for (const char letter : node.as_string()) {
    constexpr std::string_view kLetters = "M*-E";
    const std::size_t place = kLetters.find(letter);
    if (place == std::string_view::npos) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected M, *, - and E, found {}", node.where(),
                              quoted(std::string_view(&letter, 1))));
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
                                                     config.node().where(), quoted(name)));
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
    config.find(key);  // of training, of how it is computed, or of what is not there
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
  config.find("n_shared_experts");  // one, of the width that is said
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
  slide_everywhere(config, sliding_window(config, 0), traits);
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
