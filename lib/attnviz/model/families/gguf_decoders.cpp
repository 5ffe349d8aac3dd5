// Llama and its descendants as llama.cpp's converter writes them.

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/decoder_family.h"
#include "attnviz/model/families/gguf_families.h"
#include "attnviz/model/families/gguf_keys.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

constexpr DecoderNames kNames = {
    .embeddings = "token_embd",
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
    .gate = "ffn_gate",
    .up = "ffn_up",
    .down = "ffn_down",
    .gate_up = "ffn_up",
};

void require_no_experts(const GgufMetadata& metadata, const GgufKeys& key) {
  const std::string experts = key("expert_count");
  if (metadata.id(experts).value_or(0) > 0) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected none: mixtures of experts are not read",
                            gguf_where(metadata), experts));
  }
}

std::size_t head_width(const GgufMetadata& metadata, const GgufKeys& key,
                       const DecoderTraits& traits) {
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

// What all of them have in common. Fused matrices and biases of queries, keys and values may stand
// in files of any; further tensors only in those whose architecture has them.
DecoderTraits gguf_traits(const GgufMetadata& metadata, const WeightReader& weights) {
  const GgufKeys key(metadata);
  require_no_experts(metadata, key);
  DecoderTraits traits;
  traits.where = gguf_where(metadata);
  traits.names = kNames;
  traits.n_layers = metadata.size(key("block_count"));
  traits.d_model = metadata.size(key("embedding_length"));
  traits.d_ff = size_of_layers(metadata, key("feed_forward_length"));
  traits.n_heads = size_of_layers(metadata, key("attention.head_count"));
  const std::string kv_heads = key("attention.head_count_kv");
  traits.n_kv_heads = metadata.has(kv_heads) ? size_of_layers(metadata, kv_heads) : traits.n_heads;
  traits.d_head = head_width(metadata, key, traits);
  traits.n_ctx = metadata.size(key("context_length"));
  traits.epsilon = metadata.positive(key("attention.layer_norm_rms_epsilon"));
  traits.fused = weights.has("blk.0.attn_qkv.weight");
  traits.qkv_bias = Presence::kWhereThere;
  traits.tied = !weights.has("output.weight");
  return traits;
}

void rotate_all(const GgufMetadata& metadata, WeightReader& weights, DecoderTraits& traits,
                RopePairing pairing = RopePairing::kHalves, bool has_factors = false) {
  const GgufRopeFacts facts{traits.d_head, traits.n_ctx, pairing, has_factors};
  traits.rope = [rope = read_gguf_rope(metadata, weights, facts)](std::size_t /*layer*/) {
    return rope;
  };
}

// In layers for which `is_sliding` is true. A window of 0: in none.
template <class IsSliding>
void slide(const GgufMetadata& metadata, std::size_t otherwise, const IsSliding& is_sliding,
           DecoderTraits& traits) {
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

bool everywhere(std::size_t /*layer*/) {
  return true;
}

DecoderTraits gemma_traits(const GgufMetadata& metadata, const WeightReader& weights) {
  DecoderTraits traits = gguf_traits(metadata, weights);
  traits.activation = Activation::kGeluTanh;
  traits.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(traits.d_model)));
  return traits;
}

// Gemma 2 and 3: files do not say what queries are scaled by; the largest model of each is the one
// whose heads are not as wide as it assumes.
DecoderTraits later_gemma_traits(const GgufMetadata& metadata, const WeightReader& weights,
                                 std::size_t layers_of_27b) {
  DecoderTraits traits = gemma_traits(metadata, weights);
  traits.norm_after = true;
  const std::size_t width =
      traits.n_layers == layers_of_27b ? traits.d_model / traits.n_heads : traits.d_head;
  traits.score_scale = 1.0 / std::sqrt(static_cast<double>(width));
  return traits;
}

float soft_cap(const GgufMetadata& metadata, std::string_view name, double otherwise) {
  const std::string key = GgufKeys(metadata)(name);
  const double cap = metadata.number_or(key, otherwise);
  return cap == 0.0 ? 0.0f : static_cast<float>(metadata.positive_or(key, otherwise));
}

// Which layers of Gemma 3 slide: all but every sixth, or as the file lists.
std::function<bool(std::size_t)> sliding_of_gemma3(const GgufMetadata& metadata,
                                                   std::size_t n_layers) {
  const std::string key = GgufKeys(metadata)("attention.sliding_window_pattern");
  const GgufValue* const value = metadata.find(key);
  if (value != nullptr && value->type() == GgufType::kArray) {
    if (value->size() != n_layers) {
      metadata.fail(key, fmt::format("expected a flag for each layer, found {}", value->size()));
    }
    std::vector<bool> listed = metadata.flags(key);
    return [listed = std::move(listed)](std::size_t layer) { return listed[layer]; };
  }
  constexpr std::size_t kPattern = 6;
  const std::size_t pattern = metadata.size_or(key, kPattern);
  return [pattern](std::size_t layer) { return (layer + 1) % pattern != 0; };
}

}  // namespace

Model read_gguf_llama(const GgufMetadata& metadata, WeightReader weights) {
  DecoderTraits traits = gguf_traits(metadata, weights);
  traits.output_bias = traits.mlp_bias = Presence::kWhereThere;
  rotate_all(metadata, weights, traits, RopePairing::kNeighbours, /*has_factors=*/true);
  slide(metadata, 0, everywhere, traits);
  return read_decoder(traits, std::move(weights));
}

Model read_gguf_qwen2(const GgufMetadata& metadata, WeightReader weights) {
  DecoderTraits traits = gguf_traits(metadata, weights);
  rotate_all(metadata, weights, traits);
  return read_decoder(traits, std::move(weights));
}

Model read_gguf_qwen3(const GgufMetadata& metadata, WeightReader weights) {
  DecoderTraits traits = gguf_traits(metadata, weights);
  traits.query_key_norm = Presence::kYes;
  rotate_all(metadata, weights, traits);
  weights.pass_over({{"cls.output.*", kOtherTask}});  // rerankers
  return read_decoder(traits, std::move(weights));
}

Model read_gguf_phi3(const GgufMetadata& metadata, WeightReader weights) {
  DecoderTraits traits = gguf_traits(metadata, weights);
  rotate_all(metadata, weights, traits, RopePairing::kHalves, /*has_factors=*/true);
  slide(metadata, 0, everywhere, traits);
  return read_decoder(traits, std::move(weights));
}

Model read_gguf_gemma(const GgufMetadata& metadata, WeightReader weights) {
  DecoderTraits traits = gemma_traits(metadata, weights);
  traits.tied = true;
  rotate_all(metadata, weights, traits);
  return read_decoder(traits, std::move(weights));
}

Model read_gguf_gemma2(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kLayersOf27b = 46;
  constexpr double kScoreCap = 50.0;
  constexpr double kLogitCap = 30.0;
  DecoderTraits traits = later_gemma_traits(metadata, weights, kLayersOf27b);
  traits.tied = true;
  rotate_all(metadata, weights, traits);
  traits.soft_cap = soft_cap(metadata, "attn_logit_softcapping", kScoreCap);
  traits.logit_soft_cap = soft_cap(metadata, "final_logit_softcapping", kLogitCap);
  slide(
      metadata, kWindow, [](std::size_t layer) { return layer % 2 == 0; }, traits);
  return read_decoder(traits, std::move(weights));
}

Model read_gguf_gemma3(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kLayersOf27b = 62;
  constexpr double kLocalBase = 10000.0;
  DecoderTraits traits = later_gemma_traits(metadata, weights, kLayersOf27b);
  traits.query_key_norm = Presence::kYes;
  traits.logit_soft_cap = soft_cap(metadata, "final_logit_softcapping", 0.0);
  const auto is_sliding = sliding_of_gemma3(metadata, traits.n_layers);
  slide(metadata, 0, is_sliding, traits);
  if (!traits.mask) {
    rotate_all(metadata, weights, traits);
    return read_decoder(traits, std::move(weights));
  }
  const auto global = read_gguf_rope(metadata, weights, {traits.d_head, traits.n_ctx});
  const double base = metadata.positive_or(GgufKeys(metadata)("rope.freq_base_swa"), kLocalBase);
  const auto local = std::make_shared<const Rope>(plain_rope(global->n_rotated(), base, 0));
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };
  return read_decoder(traits, std::move(weights));
}

}  // namespace attnviz
