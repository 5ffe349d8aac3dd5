// Llama and its descendants in llama.cpp's GGUF form.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

bool everywhere(std::size_t /*layer*/) {
  return true;
}

Traits llama_traits(const GgufMetadata& metadata, WeightReader& weights,
                    bool may_have_experts = false) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, may_have_experts);
  traits.output_bias = traits.mlp_bias = Presence::kOptional;
  use_rope(metadata, weights, traits, RopePairing::kNeighbours, /*has_factors=*/true);
  slide(metadata, 0, everywhere, traits);
  return traits;
}

Traits glm_traits(const GgufMetadata& metadata, WeightReader& weights, RopePairing pairing) {
  Traits traits = gguf_traits(metadata, weights);
  traits.gate_with_up = true;
  use_rope(metadata, weights, traits, pairing);
  return traits;
}

}  // namespace

Traits granite_traits(const GgufMetadata& metadata, WeightReader& weights, bool may_have_experts) {
  Traits traits = llama_traits(metadata, weights, may_have_experts);
  traits.embedding_scale = static_cast<float>(scale_of(metadata, "embedding_scale", 1.0));
  traits.branch_scale = static_cast<float>(scale_of(metadata, "residual_scale", 1.0));
  traits.score_scale = scale_of(metadata, "attention.scale", 0.0);
  traits.logit_scale = static_cast<float>(1.0 / scale_of(metadata, "logit_scale", 1.0));
  // In this architecture the key states whether positions are used.
  if (!metadata.flag_or(GgufKeys(metadata)("rope.scaling.finetuned"), true)) {
    keep_unrotated(everywhere, traits);
  }
  return traits;
}

Model read_gguf_llama(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = llama_traits(metadata, weights, /*may_have_experts=*/true);
  ExpertTraits experts;  // Mixtral's
  experts.router.kind = RouterKind::kChosenSoftmax;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_qwen2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_qwen3(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  traits.query_key_norm = Presence::kYes;
  use_rope(metadata, weights, traits);
  weights.pass_over({{"cls.output.*", kOtherTask}});  // of rerankers
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_phi3(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  traits.gate_with_up = traits.qkv == QkvStorage::kStacked;
  use_rope(metadata, weights, traits, RopePairing::kHalves, /*has_factors=*/true);
  slide(metadata, 0, everywhere, traits);
  return read_transformer(traits, std::move(weights));
}

// llama.cpp rounds the ends of YaRN's ramp; the model was trained without rounding.
Model read_gguf_gpt_oss(const GgufMetadata& metadata, WeightReader weights) {
  constexpr float kLimit = 7.0f;
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  const bool is_ollamas = metadata.text("general.architecture") == "gptoss";
  TensorNames& names = traits.names;
  // Ollama's converter uses other names for some tensors.
  const auto said = [&weights](std::string_view name, std::string_view other,
                               std::string_view suffix) {
    return weights.has(fmt::format("blk.0.{}{}", other, suffix)) ? other : name;
  };
  names.mlp_norm = said("post_attention_norm", "ffn_norm", ".weight");
  names.output = said("attn_output", "attn_out", ".weight");
  names.sinks = said("attn_sinks.weight", "attn_sinks", "");
  traits.output_bias = Presence::kYes;
  traits.has_sinks = true;
  GgufRopeFacts turned{traits.d_head, traits.n_ctx};
  turned.scaling = is_ollamas ? "yarn" : "linear";
  traits.rope = [rope = read_gguf_rope(metadata, weights, turned)](std::size_t /*layer*/) {
    return rope;
  };
  slide(
      metadata, 0, [](std::size_t layer) { return layer % 2 == 0; }, traits);
  ExpertTraits experts;
  experts.router.kind = RouterKind::kChosenSoftmax;
  experts.router_bias = experts.bias = Presence::kYes;
  experts.limit = kLimit;
  experts.interleaved = is_ollamas;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

// The text part of vision models.
Model read_gguf_qwen2vl(const GgufMetadata& metadata, WeightReader weights) {
  read_picture_keys(metadata);
  return read_gguf_qwen2(metadata, std::move(weights));
}

Model read_gguf_qwen3vl(const GgufMetadata& metadata, WeightReader weights) {
  read_picture_keys(metadata);
  return read_gguf_qwen3(metadata, std::move(weights));
}

Model read_gguf_mistral3(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = llama_traits(metadata, weights);
  for (const char* of_pictures : {"image_token_index", "spatial_merge_size"}) {
    metadata.find(GgufKeys(metadata)(of_pictures));
  }
  if (const std::string mscale = GgufKeys(metadata)("rope.scaling.mscale");
      metadata.number_or(mscale, 1.0) != 1.0) {  // llama.cpp assumes 1, too
    metadata.fail(mscale, "expected 1");
  }
  if (const double growth = scale_of(metadata, "attention.temperature_scale", 0.0); growth != 0.0) {
    const GgufKeys key(metadata);
    Rope growing = *traits.rope(0);
    growing.query_growth = growth;
    growing.original_n_ctx = metadata.size(key("rope.scaling.original_context_length"));
    traits.rope = [same = std::make_shared<const Rope>(std::move(growing))](std::size_t /*layer*/) {
      return same;
    };
  }
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_granite(const GgufMetadata& metadata, WeightReader weights) {
  const Traits traits = granite_traits(metadata, weights, /*may_have_experts=*/false);
  return read_transformer(traits, std::move(weights));
}

// Files from before February 2025 lack the multipliers: llama.cpp uses those of the first models.
Model read_gguf_minicpm(const GgufMetadata& metadata, WeightReader weights) {
  constexpr double kEmbeddings = 12.0;
  constexpr double kDepth = 1.4;
  constexpr double kWidth = 256.0;
  Traits traits = llama_traits(metadata, weights);
  const auto n_layers = static_cast<double>(traits.n_layers);
  const double width = static_cast<double>(traits.d_model) / kWidth;
  traits.embedding_scale = static_cast<float>(scale_of(metadata, "embedding_scale", kEmbeddings));
  traits.branch_scale =
      static_cast<float>(scale_of(metadata, "residual_scale", kDepth / std::sqrt(n_layers)));
  traits.logit_scale = static_cast<float>(1.0 / scale_of(metadata, "logit_scale", width));
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_chatglm(const GgufMetadata& metadata, WeightReader weights) {
  const Traits traits = glm_traits(metadata, weights, RopePairing::kNeighbours);
  return read_transformer(traits, std::move(weights));
}

// Vision models store dimensions in the order in which rotary positions pair them. A text token has
// the same position in all sections.
Model read_gguf_glm4(const GgufMetadata& metadata, WeightReader weights) {
  const std::vector<double> sections =
      metadata.numbers(GgufKeys(metadata)("rope.dimension_sections"));
  const bool sees = sections.size() > 1 && sections[0] > 0.0 && sections[1] > 0.0;
  Traits traits =
      glm_traits(metadata, weights, sees ? RopePairing::kHalves : RopePairing::kNeighbours);
  traits.norm_after = true;
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_hunyuan_dense(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  traits.query_key_norm = Presence::kYes;
  traits.norms_turned_heads = true;
  traits.output_bias = Presence::kOptional;
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_granitemoe(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = granite_traits(metadata, weights, /*may_have_experts=*/true);
  ExpertTraits experts;
  experts.router.kind = RouterKind::kChosenSoftmax;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

// llama.cpp has no key for normalising the factors to a sum of 1: the architecture decides.
Model read_gguf_qwen2moe(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  use_rope(metadata, weights, traits);
  ExpertTraits experts;
  experts.shared_d_ff = metadata.size(GgufKeys(metadata)("expert_shared_feed_forward_length"));
  experts.has_shared_gate = true;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_qwen3moe(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  traits.query_key_norm = Presence::kYes;
  use_rope(metadata, weights, traits);
  ExpertTraits experts;
  experts.router.normed =
      metadata.flag_or(GgufKeys(metadata)("norm_top_k_prob"), true);  // Ollama's key
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_lfm2(const GgufMetadata& metadata, WeightReader weights) {
  const GgufKeys key(metadata);
  Traits traits = gguf_traits(metadata, weights);
  traits.names.norm = "token_embd_norm";
  traits.query_key_norm = Presence::kYes;
  traits.convolution_bias = Presence::kOptional;
  use_rope(metadata, weights, traits);
  traits.vary = [by_layer = traits.vary, width = metadata.size(key("shortconv.l_cache"))](
                    std::size_t layer, LayerTraits& shape) {
    if (by_layer) {
      by_layer(layer, shape);
    }
    shape.convolution = shape.n_kv_heads == 0 ? width : 0;
  };
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_smollm3(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kInterval = 4;  // not stated in any file
  Traits traits = llama_traits(metadata, weights);
  const IsSliding rotates = all_but_every(kInterval);
  keep_unrotated([rotates](std::size_t layer) { return !rotates(layer); }, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_olmo2(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kPattern = 4;
  Traits traits = gguf_traits(metadata, weights);
  traits.norm_before = false;
  traits.norm_after = true;
  traits.query_key_norm = Presence::kYes;
  traits.head_norms = HeadNorms::kTogether;
  use_rope(metadata, weights, traits);
  const IsSliding is_sliding = sliding_pattern(metadata, kPattern);
  slide(metadata, 0, is_sliding, traits);
  if (traits.mask) {  // sliding layers are not scaled
    const auto scaled = traits.rope(0);
    const double base =
        metadata.positive_or(GgufKeys(metadata)("rope.freq_base_swa"), scaled->theta);
    const auto plain = std::make_shared<const Rope>(plain_rope(scaled->n_rotated(), base, 0));
    traits.rope = [is_sliding, scaled, plain](std::size_t layer) {
      return is_sliding(layer) ? plain : scaled;
    };
  }
  return read_transformer(traits, std::move(weights));
}

// DeepSeek-V2 and V3 in llama.cpp's GGUF form.

namespace {

// Newer files list sizes for heads that share one key of latents, and the heads' own sizes under
// "_mla"; keys and values have a tensor each.
void read_deepseek_latents(const GgufMetadata& metadata, WeightReader& weights, Traits& traits) {
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

// If YaRN's magnitude covers all dimensions, it scales the scores: once for queries and once for
// keys.
void rotate(const GgufMetadata& metadata, WeightReader& weights, Traits& traits) {
  GgufRopeFacts facts{traits.latents.n_shared, traits.n_ctx, RopePairing::kNeighbours};
  facts.scales_scores = true;
  Rope rope = *read_gguf_rope(metadata, weights, facts);
  rope.n_still = traits.d_head - traits.latents.n_shared;
  const double tenth =
      metadata.number_or(GgufKeys(metadata)("rope.scaling.yarn_log_multiplier"), 0.0);
  if (rope.scaling == "yarn" && tenth > 0.0) {
    // A config has few digits, and the file has a tenth of its number as a float.
    constexpr double kDigits = 1e6;
    const double magnitude =
        yarn_magnitude(rope.factor, std::round(10.0 * tenth * kDigits) / kDigits);
    traits.score_scale = magnitude * magnitude / std::sqrt(static_cast<double>(traits.d_head));
  }
  traits.rope = [rope = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
    return rope;
  };
}

// V2's files do not describe the router: it is a softmax, and a group's score is that of its best
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
  read_deepseek_latents(metadata, weights, traits);
  rotate(metadata, weights, traits);
  read_gguf_experts(metadata, weights, expert_traits(metadata, weights, traits), traits);
  traits.names.choice_bias = "exp_probs_b.bias";
  return read_transformer(traits, std::move(weights));
}

}  // namespace attnviz
