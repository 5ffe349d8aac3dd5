// Decoders with layer norms in llama.cpp's GGUF form.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/families/readers/part_readers.h"
#include "attnviz/model/rope_scaling.h"

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
  use_rope(metadata, weights, traits, RopePairing::kNeighbours);
  return traits;
}

}  // namespace

Model read_gguf_gpt2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  use_learned_positions(traits, traits.n_ctx);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gptneox(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  traits.activation = Activation::kGelu;
  traits.order = metadata.flag_or(GgufKeys(metadata)("use_parallel_residual"), true)
                     ? LayerOrder::kParallel
                     : LayerOrder::kPreNorm;
  traits.qkv_bias = traits.output_bias = Presence::kOptional;
  use_rope(metadata, weights, traits);
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
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_starcoder2(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gpt_traits(metadata, weights);
  set_biases(traits, Presence::kOptional);
  use_rope(metadata, weights, traits);
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
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_stablelm(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = layer_norm_traits(metadata, weights, Presence::kYes);
  if (metadata.flag_or(GgufKeys(metadata)("use_parallel_residual"), false)) {
    traits.order = LayerOrder::kParallel;
    traits.one_norm = true;
  }
  traits.query_key_norm = Presence::kOptional;
  traits.head_norms = HeadNorms::kOfEach;
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_command_r(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = cohere_traits(metadata, weights);
  metadata.find(GgufKeys(metadata)("max_position_embeddings"));  // Ollama's name for it
  traits.query_key_norm = Presence::kOptional;
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

// Encoders in llama.cpp's GGUF form, without their masked-token heads; and T5 and UMT5.

namespace {

// The layers of BERT, for any kind of positions.
Traits bert_traits(const GgufMetadata& metadata, WeightReader& weights, std::size_t n_positions) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kLayer);
  metadata.find(GgufKeys(metadata)("normalize_embeddings"));  // Ollama's key, for pooled outputs
  const std::size_t n_ctx = traits.n_ctx;
  set_encoder(traits, n_positions == 0 ? n_ctx : n_positions, traits.epsilon);
  traits.n_ctx = std::min(traits.n_ctx, n_ctx);
  traits.names.attention_norm = "attn_output_norm";
  traits.names.mlp_norm = "layer_output_norm";
  traits.n_segments = weights.has("token_types.weight") ? weights.rows_of("token_types.weight") : 0;
  weights.pass_over({{"cls.weight", kOtherTask},
                     {"cls.bias", kOtherTask},
                     {"cls.output.*", kOtherTask},
                     {"cls.norm.*", kOtherTask}});
  return traits;
}

}  // namespace

Model read_gguf_bert(const GgufMetadata& metadata, WeightReader weights) {
  const Traits traits = bert_traits(metadata, weights, weights.rows_of("position_embd.weight"));
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_nomic_bert(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = bert_traits(metadata, weights, 0);
  traits.positions = Positions::kRope;
  set_biases(traits, Presence::kOptional);
  traits.gated = weights.has("blk.0.ffn_gate.weight");
  traits.activation = traits.gated ? Activation::kSilu : Activation::kGelu;
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_modern_bert(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kPattern = 3;
  constexpr double kLocalBase = 10000.0;
  const GgufKeys key(metadata);
  Traits traits = gguf_traits(metadata, weights, NormKind::kLayer);
  if (const std::string_view name = metadata.text_or(key("hidden_activation"), "gelu");
      name != "gelu") {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}{}: expected gelu, found {}", traits.where,
                                                     key("hidden_activation"), in_quotes(name)));
  }
  traits.embedding_norm = true;
  traits.first_norm = false;
  traits.gate_with_up = true;
  traits.activation = Activation::kGelu;
  const std::size_t pattern = metadata.size_or(key("attention.sliding_window_pattern"), kPattern);
  const auto is_near = [pattern](std::size_t layer) { return layer % pattern != 0; };
  attend_bidirectionally(traits, metadata.size(key("attention.sliding_window")) / 2, is_near);
  const auto far = read_gguf_rope(metadata, weights, {traits.d_head, traits.n_ctx});
  const auto near = std::make_shared<const Rope>(
      plain_rope(far->n_rotated(), metadata.positive_or(key("rope.freq_base_swa"), kLocalBase), 0));
  traits.rope = [is_near, far, near](std::size_t layer) { return is_near(layer) ? near : far; };
  weights.pass_over({{"cls.*", kOtherTask}});
  return read_transformer(traits, std::move(weights));
}

namespace {

Traits encoder_traits(const GgufMetadata& metadata, WeightReader& weights) {
  constexpr std::size_t kMostDistance = 128;  // files have no key for it
  const GgufKeys key(metadata);
  Traits traits = gguf_traits(metadata, weights);
  traits.n_ctx = 0;  // used in training: relative positions have no limit
  TensorNames& names = traits.names;
  names.norm = "enc.output_norm";
  names.layer = "enc.blk.{}.";
  names.output = "attn_o";
  names.distance_bias = "attn_rel_b";
  traits.positions = Positions::kRelative;
  traits.distance_buckets = {
      metadata.size(key("attention.relative_buckets_count")), kMostDistance,
      weights.has("enc.blk.1.attn_rel_b.weight") || weights.has("dec.blk.1.attn_rel_b.weight")};
  check_buckets(traits.where, traits.distance_buckets);
  traits.score_scale = 1.0;
  traits.sees_all = true;
  traits.gated = weights.has("enc.blk.0.ffn_gate.weight");
  traits.activation = traits.gated ? Activation::kGeluTanh : Activation::kRelu;
  traits.qkv_bias = Presence::kNo;
  return traits;
}

Traits decoder_traits(const GgufMetadata& metadata, const Traits& encoder) {
  Traits traits = encoder;
  TensorNames& names = traits.names;
  names.norm = "dec.output_norm";
  names.layer = "dec.blk.{}.";
  names.cross_query = "cross_attn_q";
  names.cross_key = "cross_attn_k";
  names.cross_value = "cross_attn_v";
  names.cross_output = "cross_attn_o";
  names.cross_norm = "cross_attn_norm";
  traits.n_layers = metadata.size_or(GgufKeys(metadata)("decoder_block_count"), encoder.n_layers);
  traits.vary = {};  // lists by layer describe the encoder
  traits.sees_all = false;
  traits.has_cross = true;
  if (traits.tied) {  // the scale that llama.cpp leaves out
    traits.logit_scale = 1.0f / std::sqrt(static_cast<float>(traits.d_model));
  }
  return traits;
}

}  // namespace

Model read_gguf_t5(const GgufMetadata& metadata, WeightReader weights) {
  const Traits encoder = encoder_traits(metadata, weights);
  const Traits decoder = decoder_traits(metadata, encoder);
  weights.pass_over({{"dec.blk.#.cross_attn_rel_b.weight", "cross-attention has no positions"}});
  Model model = read_encoder_decoder(encoder, decoder, std::move(weights));
  model.config.first_token = metadata.id(GgufKeys(metadata)("decoder_start_token_id")).value_or(0);
  return model;
}

}  // namespace attnviz
