// DeepSeek-V2 and V3 (DeepSeek-AI 2024): heads read latents, and layers after the first ones have
// many small experts beside those that all tokens share.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

namespace {

// The defaults of the family's library.
struct DeepSeekDefaults {
  std::size_t n_heads = 0;
  std::size_t n_ctx = 0;
  std::size_t n_experts = 0, n_used = 0, d_expert = 0, n_shared_experts = 0;
  std::size_t n_dense = 0;  // layers without experts, at the beginning
  double scale = 1.0;
};

// A number that may be 0; null counts as 0.
std::size_t count_or(const HfConfig& config, std::string_view key, std::size_t otherwise) {
  constexpr std::uint64_t kMost = 1U << 31U;
  const std::optional<JsonNode> found = config.find_or_null(key);
  if (!found || found->kind() == JsonKind::kNull) {
    return found ? 0 : otherwise;
  }
  const std::uint64_t count = found->as_unsigned();
  if (count > kMost) {
    found->fail(fmt::format("expected at most {}, found {}", kMost, count));
  }
  return static_cast<std::size_t>(count);
}

// Heads that rotate in part, and the latents that they read.
void read_latents(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kQueryRank = 1536;
  constexpr std::size_t kRank = 512;
  constexpr std::size_t kHead = 128;
  constexpr std::size_t kRotated = 64;
  LatentTraits& latents = traits.latents;
  latents.query_rank = count_or(config, "q_lora_rank", kQueryRank);
  latents.rank = config.size_or("kv_lora_rank", kRank);
  latents.n_shared = config.size_or("qk_rope_head_dim", kRotated);
  latents.d_value = config.size_or("v_head_dim", kHead);
  latents.down_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.d_head = config.size_or("qk_nope_head_dim", kHead) + latents.n_shared;
  if (latents.n_shared % 2 != 0 || latents.n_shared > kWidestHead) {
    config.at("qk_rope_head_dim")
        .fail(fmt::format("expected an even number up to {}, found {}", kWidestHead,
                          latents.n_shared));
  }
  // The library also writes sizes that follow from these.
  for (const auto& [key, size] :
       {std::pair("head_dim", latents.n_shared), std::pair("qk_head_dim", traits.d_head)}) {
    if (const std::size_t said = config.size_or(key, size); said != size) {
      config.at(key).fail(fmt::format("expected {} as the other sizes say, found {}", size, said));
    }
  }
  if (traits.n_kv_heads != traits.n_heads) {
    config.at("num_key_value_heads")
        .fail(fmt::format("expected as many as heads, {}, found {}", traits.n_heads,
                          traits.n_kv_heads));
  }
  TensorNames& names = traits.names;
  names.query = latents.query_rank == 0 ? "self_attn.q_proj" : "self_attn.q_b_proj";
  names.query_down = "self_attn.q_a_proj";
  names.query_down_norm = "self_attn.q_a_layernorm";
  names.key_down = "self_attn.kv_a_proj_with_mqa";
  names.key_down_norm = "self_attn.kv_a_layernorm";
  names.key_value_up = "self_attn.kv_b_proj";
}

// If YaRN's magnitude covers all dimensions, it scales the scores: once for queries and once for
// keys.
void rotate(const HfConfig& config, RopePairing pairing, Traits& traits) {
  RopeFacts facts{traits.latents.n_shared, traits.n_ctx};
  facts.pairing = pairing;
  Rope rope = read_config_rope(config, facts);
  rope.n_still = traits.d_head - traits.latents.n_shared;
  const auto newer = config.object("rope_parameters");
  const auto scaling = newer ? newer : config.object("rope_scaling");
  const double scale = rope.scaling == "yarn" ? yarn_scale(*scaling, "mscale_all_dim") : 0.0;
  if (scale > 0.0) {
    const double magnitude = yarn_magnitude(rope.factor, scale);
    traits.score_scale = magnitude * magnitude / std::sqrt(static_cast<double>(traits.d_head));
  }
  traits.rope = [rope = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
    return rope;
  };
}

void read_experts(const HfConfig& config, const DeepSeekDefaults& defaults, Traits& traits) {
  ExpertTraits& experts = traits.experts;
  experts.n = count_or(config, "n_routed_experts", defaults.n_experts);
  experts.d_ff = config.size_or("moe_intermediate_size", defaults.d_expert);
  experts.shared_d_ff =
      experts.d_ff * count_or(config, "n_shared_experts", defaults.n_shared_experts);
  experts.router.n_used = config.size_or("num_experts_per_tok", defaults.n_used);
  experts.router.scale =
      static_cast<float>(config.positive_or("routed_scaling_factor", defaults.scale));
  const std::size_t n_dense = count_or(config, "first_k_dense_replace", defaults.n_dense);
  experts.in_layer = [n_dense](std::size_t layer) { return layer >= n_dense; };
  if (const std::size_t step = config.size_or("moe_layer_freq", 1); step != 1) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected 1, found {}", config.at("moe_layer_freq").where(), step));
  }
  TensorNames& names = traits.names;
  names.router = "mlp.gate";
  names.choice_bias = "mlp.gate.e_score_correction_bias";
  name_experts(names);
  names.shared_mlp_gate = "mlp.shared_experts.gate_proj";
  names.shared_mlp_up = "mlp.shared_experts.up_proj";
  names.shared_mlp_down = "mlp.shared_experts.down_proj";
}

void read_groups(const HfConfig& config, std::size_t n_groups, std::size_t n_used_groups,
                 Router& router) {
  router.n_groups = config.size_or("n_group", n_groups);
  router.n_used_groups = config.size_or("topk_group", n_used_groups);
}

Traits deepseek_traits(const HfConfig& config, RopePairing pairing,
                       const DeepSeekDefaults& defaults) {
  constexpr std::size_t kAnyHead = 1;  // read_latents() sets the width of heads
  Traits traits = read_traits(
      config, {.n_heads = defaults.n_heads, .d_head = kAnyHead, .n_ctx = defaults.n_ctx});
  traits.activation = read_activation(config, "hidden_act", "silu");
  read_latents(config, traits);
  rotate(config, pairing, traits);
  read_experts(config, defaults, traits);
  for (const char* of_training : {"aux_loss_alpha", "seq_aux", "ep_size"}) {
    config.find(of_training);
  }
  return traits;
}

}  // namespace

Model read_deepseek2(const HfConfig& config, TensorFiles files) {
  Traits traits = deepseek_traits(config, RopePairing::kNeighbours,
                                  {.n_heads = 32,
                                   .n_ctx = 2048,
                                   .n_experts = 64,
                                   .n_used = 6,
                                   .d_expert = 1407,
                                   .n_shared_experts = 2});
  require(config, "scoring_func", R"("softmax")");
  if (config.flag_or("norm_topk_prob", false)) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}expected false: whether factors are scaled, too, then depends on the "
                    "program",
                    config.at("norm_topk_prob").where()));
  }
  Router router;
  read_groups(config, 1, 1, router);
  if (const std::string_view method = config.text_or("topk_method", "greedy");
      method == "group_limited_greedy") {
    traits.experts.router.n_groups = router.n_groups;
    traits.experts.router.n_used_groups = router.n_used_groups;
  } else if (method != "greedy") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected greedy or group_limited_greedy, found {}",
                            config.at("topk_method").where(), in_quotes(method)));
  }
  return read_hf_decoder(std::move(files), traits);
}

Model read_deepseek3(const HfConfig& config, TensorFiles files) {
  const bool are_neighbours = config.flag_or("rope_interleave", true);
  Traits traits =
      deepseek_traits(config, are_neighbours ? RopePairing::kNeighbours : RopePairing::kHalves,
                      {.n_heads = 128,
                       .n_ctx = 4096,
                       .n_experts = 256,
                       .n_used = 8,
                       .d_expert = 2048,
                       .n_shared_experts = 1,
                       .n_dense = 3,
                       .scale = 2.5});
  require(config, "scoring_func", R"("sigmoid")");
  require(config, "topk_method", R"("noaux_tc")");
  Router& router = traits.experts.router;
  router.kind = RouterKind::kSigmoid;
  router.normed = config.flag_or("norm_topk_prob", true);
  router.n_group_best = 2;
  read_groups(config, 8, 4, router);
  traits.experts.has_choice_bias = true;
  return read_hf_decoder(std::move(files), traits,
                         layers_ahead("layers.{}.*", traits.n_layers,
                                      count_or(config, "num_nextn_predict_layers", 0)));
}

}  // namespace attnviz
