// DeepSeek-V2 and V3 as llama.cpp's converter writes them.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/families/gguf/gguf_traits.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

// Newer files say sizes as latents have them when all heads share one key, and their own beside
// these; their keys and values have a tensor each.
void read_latents(const GgufMetadata& metadata, WeightReader& weights, Traits& traits) {
  const GgufKeys key(metadata);
  const auto own_size = [&](const char* name) {
    const std::string shared = key(name);
    const std::string own = shared + "_mla";
    const std::size_t size = metadata.size(shared);
    return metadata.size_or(own, size);
  };
  LatentTraits& latents = traits.latents;
  latents.query_rank = metadata.id(key("attention.q_lora_rank")).value_or(0);
  latents.rank = metadata.size(key("attention.kv_lora_rank"));
  latents.n_shared = metadata.size(key("rope.dimension_count"));
  latents.d_value = own_size("attention.value_length");
  traits.d_head = own_size("attention.key_length");
  if (latents.n_shared >= traits.d_head || latents.n_shared % 2 != 0 ||
      latents.n_shared > kWidestHead) {
    metadata.fail(key("rope.dimension_count"),
                  fmt::format("expected an even number below {}, found {}",
                              std::min(traits.d_head, kWidestHead + 1), latents.n_shared));
  }
  latents.is_one = weights.has("blk.0.attn_kv_b.weight");
  if (latents.is_one) {
    constexpr std::string_view kAgain = "attn_kv_b holds the same numbers";
    weights.pass_over({{"blk.#.attn_k_b.weight", kAgain}, {"blk.#.attn_v_b.weight", kAgain}});
  }
  TensorNames& names = traits.names;
  names.query = latents.query_rank == 0 ? "attn_q" : "attn_q_b";
  names.query_down = "attn_q_a";
  names.query_down_norm = "attn_q_a_norm";
  names.key_down = "attn_kv_a_mqa";
  names.key_down_norm = "attn_kv_a_norm";
  names.key_value_up = "attn_kv_b";
  names.key_up = "attn_k_b.weight";
  names.value_up = "attn_v_b.weight";
}

// YaRN's magnitude is one of all dimensions: scores have it, once for each side.
void rotate(const GgufMetadata& metadata, WeightReader& weights, Traits& traits) {
  GgufRopeFacts facts{traits.latents.n_shared, traits.n_ctx, RopePairing::kNeighbours};
  facts.scales_scores = true;
  Rope rope = *read_gguf_rope(metadata, weights, facts);
  rope.n_still = traits.d_head - traits.latents.n_shared;
  const double tenth =
      metadata.number_or(GgufKeys(metadata)("rope.scaling.yarn_log_multiplier"), 0.0);
  if (rope.scaling == "yarn" && tenth > 0.0) {
    // A config says it in a few digits, and the file has a tenth of it as a float.
    constexpr double kDigits = 1e6;
    const double magnitude =
        yarn_magnitude(rope.factor, std::round(10.0 * tenth * kDigits) / kDigits);
    traits.score_scale = magnitude * magnitude / std::sqrt(static_cast<double>(traits.d_head));
  }
  traits.rope = [rope = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
    return rope;
  };
}

// Files of V2 say nothing of the router: it is a softmax, and its groups are as good as their best
// expert.
ExpertTraits expert_traits(const GgufMetadata& metadata, const WeightReader& weights,
                           const Traits& traits) {
  constexpr std::uint32_t kSoftmax = 1;
  constexpr std::uint32_t kSigmoid = 2;
  const GgufKeys key(metadata);
  ExpertTraits experts;
  const std::string gating = key("expert_gating_func");
  const std::uint32_t kind = metadata.id(gating).value_or(kSoftmax);
  if (kind > kSigmoid) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected 1 (softmax) or 2 (sigmoid), found {}",
                            gguf_where(metadata), gating, kind));
  }
  Router& router = experts.router;
  router.kind = kind == kSigmoid ? RouterKind::kSigmoid : RouterKind::kSoftmax;
  router.normed = metadata.flag_or(key("expert_weights_norm"), false);
  router.scale = static_cast<float>(scale_of(metadata, "expert_weights_scale", 1.0));
  router.n_groups = metadata.size_or(key("expert_group_count"), 1);
  router.n_used_groups = metadata.size_or(key("expert_group_used_count"), router.n_groups);
  router.n_group_best = kind == kSigmoid ? 2 : 1;
  const std::size_t n_dense = metadata.id(key("leading_dense_block_count")).value_or(0);
  experts.in_layer = [n_dense](std::size_t layer) { return layer >= n_dense; };
  experts.has_choice_bias =
      weights.has(fmt::format("blk.{}.exp_probs_b.bias", std::min(n_dense, traits.n_layers - 1)));
  const std::size_t d_ff = metadata.size_or(key("expert_feed_forward_length"), traits.d_ff);
  experts.shared_d_ff = d_ff * metadata.id(key("expert_shared_count")).value_or(0);
  return experts;
}

}  // namespace

Model read_gguf_deepseek2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true,
                              /*has_latents=*/true);
  read_latents(metadata, weights, traits);
  rotate(metadata, weights, traits);
  read_gguf_experts(metadata, weights, expert_traits(metadata, weights, traits), traits);
  traits.names.choice_bias = "exp_probs_b.bias";
  return read_transformer(traits, std::move(weights));
}

}  // namespace attnviz
