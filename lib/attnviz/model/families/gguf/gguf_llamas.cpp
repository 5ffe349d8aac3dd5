// Llama and its descendants as llama.cpp's converter writes them.

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/families/gguf/gguf_traits.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

bool everywhere(std::size_t /*layer*/) {
  return true;
}

Traits llama_traits(const GgufMetadata& metadata, WeightReader& weights,
                    bool may_have_experts = false) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, may_have_experts);
  traits.output_bias = traits.mlp_bias = Presence::kWhereThere;
  rotate_all(metadata, weights, traits, RopePairing::kNeighbours, /*has_factors=*/true);
  slide(metadata, 0, everywhere, traits);
  return traits;
}

Traits glm_traits(const GgufMetadata& metadata, WeightReader& weights, RopePairing pairing) {
  Traits traits = gguf_traits(metadata, weights);
  traits.gate_with_up = true;
  rotate_all(metadata, weights, traits, pairing);
  return traits;
}

}  // namespace

Traits granite_traits(const GgufMetadata& metadata, WeightReader& weights, bool may_have_experts) {
  Traits traits = llama_traits(metadata, weights, may_have_experts);
  traits.embedding_scale = static_cast<float>(scale_of(metadata, "embedding_scale", 1.0));
  traits.branch_scale = static_cast<float>(scale_of(metadata, "residual_scale", 1.0));
  traits.score_scale = scale_of(metadata, "attention.scale", 0.0);
  traits.logit_scale = static_cast<float>(1.0 / scale_of(metadata, "logit_scale", 1.0));
  // Of this architecture it says whether there are positions.
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
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_qwen3(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  traits.query_key_norm = Presence::kYes;
  rotate_all(metadata, weights, traits);
  weights.pass_over({{"cls.output.*", kOtherTask}});  // rerankers
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_phi3(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  traits.gate_with_up = traits.qkv == QkvStorage::kStacked;
  rotate_all(metadata, weights, traits, RopePairing::kHalves, /*has_factors=*/true);
  slide(metadata, 0, everywhere, traits);
  return read_transformer(traits, std::move(weights));
}

// llama.cpp rounds the ends of YaRN's ramp, which the model was trained without.
Model read_gguf_gpt_oss(const GgufMetadata& metadata, WeightReader weights) {
  constexpr float kLimit = 7.0f;
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  const bool is_ollamas = metadata.text("general.architecture") == "gptoss";
  TensorNames& names = traits.names;
  // Ollama's converter has names of its own for some.
  const auto said = [&weights](std::string_view name, std::string_view other,
                               std::string_view behind) {
    return weights.has(fmt::format("blk.0.{}{}", other, behind)) ? other : name;
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
      metadata.number_or(mscale, 1.0) != 1.0) {  // llama.cpp takes it as 1, too
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

// Files from before February 2025 lack its multipliers: llama.cpp uses those of the first models.
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
// the same position in all sections of these.
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
  traits.output_bias = Presence::kWhereThere;
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_granitemoe(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = granite_traits(metadata, weights, /*may_have_experts=*/true);
  ExpertTraits experts;
  experts.router.kind = RouterKind::kChosenSoftmax;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

// llama.cpp has no key for whether factors are normalised to a sum of 1: the architecture decides.
Model read_gguf_qwen2moe(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  rotate_all(metadata, weights, traits);
  ExpertTraits experts;
  experts.shared_d_ff = metadata.size(GgufKeys(metadata)("expert_shared_feed_forward_length"));
  experts.has_shared_gate = true;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_qwen3moe(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  traits.query_key_norm = Presence::kYes;
  rotate_all(metadata, weights, traits);
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
  traits.convolution_bias = Presence::kWhereThere;
  rotate_all(metadata, weights, traits);
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
  constexpr std::size_t kInterval = 4;  // no file says it
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
  rotate_all(metadata, weights, traits);
  const IsSliding is_sliding = sliding_pattern(metadata, kPattern);
  slide(metadata, 0, is_sliding, traits);
  if (traits.mask) {  // what slides is not scaled
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

}  // namespace attnviz
