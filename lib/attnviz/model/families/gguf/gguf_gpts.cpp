// Decoders with layer norms as llama.cpp's converter writes them.

#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/families/gguf/gguf_traits.h"

namespace attnviz {

namespace {

Traits layer_norm_traits(const GgufMetadata& metadata, WeightReader& weights, Presence norm_bias) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kLayer);
  traits.norm_bias = norm_bias;
  return traits;
}

// With biases everywhere, and an MLP without a gate.
Traits gpt_traits(const GgufMetadata& metadata, WeightReader& weights) {
  Traits traits = layer_norm_traits(metadata, weights, Presence::kYes);
  set_biases(traits, Presence::kYes);
  traits.gated = false;
  traits.activation = Activation::kGeluTanh;
  return traits;
}

Traits cohere_traits(const GgufMetadata& metadata, WeightReader& weights) {
  Traits traits = layer_norm_traits(metadata, weights, Presence::kNo);
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.logit_scale = static_cast<float>(scale_of(metadata, "logit_scale", 1.0));
  rotate_all(metadata, weights, traits, RopePairing::kNeighbours);
  return traits;
}

}  // namespace

Model read_gguf_gpt2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  learn_positions(traits, traits.n_ctx);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gptneox(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  traits.activation = Activation::kGelu;
  traits.order = metadata.flag_or(GgufKeys(metadata)("use_parallel_residual"), true)
                     ? LayerOrder::kParallel
                     : LayerOrder::kPreNorm;
  traits.qkv_bias = traits.output_bias = Presence::kWhereThere;
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_bloom(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  traits.positions = Positions::kAlibi;
  traits.embedding_norm = true;
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_phi2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.unembedding_bias = Presence::kYes;
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_starcoder2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  set_biases(traits, Presence::kWhereThere);
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_falcon(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  set_biases(traits, Presence::kNo);
  traits.activation = Activation::kGelu;
  traits.order = LayerOrder::kParallel;
  traits.one_norm = !weights.has("blk.0.attn_norm_2.weight");
  if (!traits.one_norm) {
    traits.names.attention_norm = "attn_norm_2";
    traits.names.mlp_norm = "attn_norm";
  }
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_stablelm(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = layer_norm_traits(metadata, weights, Presence::kYes);
  if (metadata.flag_or(GgufKeys(metadata)("use_parallel_residual"), false)) {
    traits.order = LayerOrder::kParallel;
    traits.one_norm = true;
  }
  traits.query_key_norm = Presence::kWhereThere;
  traits.head_norms = HeadNorms::kOfEach;
  rotate_all(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_command_r(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = cohere_traits(metadata, weights);
  metadata.find(GgufKeys(metadata)("max_position_embeddings"));  // Ollama's name for it
  traits.query_key_norm = Presence::kWhereThere;
  traits.head_norms = HeadNorms::kOfEach;
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_cohere2(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kPattern = 4;
  Traits traits = cohere_traits(metadata, weights);
  const IsSliding is_sliding = sliding_pattern(metadata, kPattern);
  slide(metadata, 0, is_sliding, traits);
  keep_unrotated([is_sliding](std::size_t layer) { return !is_sliding(layer); }, traits);
  return read_transformer(traits, std::move(weights));
}

}  // namespace attnviz
