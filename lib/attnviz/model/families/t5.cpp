// T5 (Raffel et al. 2020), mT5 (Xue et al. 2021) and UMT5 (Chung et al. 2023): encoder and decoder
// with relative positions, whose scores are not scaled.

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"
#include "attnviz/model/families/readers/part_readers.h"

namespace attnviz {

namespace {

// What the families differ in.
struct T5Defaults {
  std::string_view feed_forward;
  bool tied = false;
  bool bias_of_each_layer = false;
};

constexpr TensorNames kEncoder = {
    .embeddings = "shared",
    .norm = "encoder.final_layer_norm",
    .layer = "encoder.block.{}.",
    .query = "layer.0.SelfAttention.q",
    .key = "layer.0.SelfAttention.k",
    .value = "layer.0.SelfAttention.v",
    .output = "layer.0.SelfAttention.o",
    .attention_norm = "layer.0.layer_norm",
    .mlp_norm = "layer.1.layer_norm",
    .gate = "layer.1.DenseReluDense.wi_0",
    .up = "layer.1.DenseReluDense.wi_1",
    .down = "layer.1.DenseReluDense.wo",
    .distance_bias = "layer.0.SelfAttention.relative_attention_bias",
};

constexpr TensorNames decoder_names() {
  TensorNames names = kEncoder;
  names.norm = "decoder.final_layer_norm";
  names.unembedding = "lm_head";
  names.layer = "decoder.block.{}.";
  names.cross_query = "layer.1.EncDecAttention.q";
  names.cross_key = "layer.1.EncDecAttention.k";
  names.cross_value = "layer.1.EncDecAttention.v";
  names.cross_output = "layer.1.EncDecAttention.o";
  names.cross_norm = "layer.1.layer_norm";
  names.mlp_norm = "layer.2.layer_norm";
  names.gate = "layer.2.DenseReluDense.wi_0";
  names.up = "layer.2.DenseReluDense.wi_1";
  names.down = "layer.2.DenseReluDense.wo";
  return names;
}

// "relu", "gated-gelu", "gated-silu": of the first the MLP's only wide matrix is `wi`.
void read_feed_forward(const HfConfig& config, std::string_view otherwise, Traits& traits) {
  constexpr std::string_view kKey = "feed_forward_proj";
  const std::string_view name = config.text_or(kKey, otherwise);
  if (name != "relu" && name != "gated-gelu" && name != "gated-silu") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected relu, gated-gelu or gated-silu, found {}", traits.where,
                            kKey, quoted(name)));
  }
  traits.gated = name != "relu";
  traits.activation = name == "relu"         ? Activation::kRelu
                      : name == "gated-gelu" ? Activation::kGeluTanh
                                             : Activation::kSilu;
  config.find("dense_act_fn");  // what it says follows from this
  config.find("is_gated_act");
}

Traits encoder_traits(const HfConfig& config, const T5Defaults& defaults) {
  constexpr std::size_t kBuckets = 32;
  constexpr std::size_t kMostDistance = 128;
  Traits traits;
  traits.where = config.node().where();
  traits.names = kEncoder;
  traits.n_layers = config.size("num_layers");
  traits.n_vocab = config.size_if_there("vocab_size").value_or(0);
  traits.d_model = config.size("d_model");
  traits.d_ff = config.size("d_ff");
  traits.d_head = config.size("d_kv");
  traits.n_heads = traits.n_kv_heads = config.size("num_heads");
  traits.epsilon = config.positive_or("layer_norm_epsilon", 1e-6);
  traits.positions = Positions::kRelative;
  traits.distance_buckets = {config.size_or("relative_attention_num_buckets", kBuckets),
                             config.size_or("relative_attention_max_distance", kMostDistance),
                             defaults.bias_of_each_layer};
  check_buckets(traits.where, traits.distance_buckets);
  traits.score_scale = 1.0;
  traits.sees_all = true;
  read_feed_forward(config, defaults.feed_forward, traits);
  if (!traits.gated) {
    traits.names.up = "layer.1.DenseReluDense.wi";
  }
  return traits;
}

Traits decoder_traits(const HfConfig& config, const WeightReader& weights, const Traits& encoder,
                      const T5Defaults& defaults) {
  Traits traits = encoder;
  traits.names = decoder_names();
  if (!traits.gated) {
    traits.names.up = "layer.2.DenseReluDense.wi";
  }
  traits.n_layers = config.size_or("num_decoder_layers", encoder.n_layers);
  traits.sees_all = false;
  traits.has_cross = true;
  traits.tied = is_tied(config, defaults.tied);
  // Later configs say apart whether the decoder's output is scaled and call all models tied.
  const bool is_scaled = config.flag_or("scale_decoder_outputs", traits.tied);
  if (config.has("scale_decoder_outputs")) {
    traits.tied = !weights.has("lm_head.weight");
  }
  traits.logit_scale = is_scaled ? 1.0f / std::sqrt(static_cast<float>(traits.d_model)) : 1.0f;
  return traits;
}

Model read_t5(const HfConfig& config, TensorFiles files, const T5Defaults& defaults) {
  if (!config.flag_or("is_encoder_decoder", true)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}is_encoder_decoder: expected true: encoders alone are not read",
                            config.node().where()));
  }
  config.find("n_positions");  // of training: relative positions know no end
  WeightReader weights(std::move(files), {"transformer.", ""},
                       "encoder.block.0.layer.0.SelfAttention.q.weight");
  share_embeddings(weights, /*with_unembedding=*/false);
  weights.pass_over({{"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
                      "cross-attention has no positions"}});
  const Traits encoder = encoder_traits(config, defaults);
  const Traits decoder = decoder_traits(config, weights, encoder, defaults);
  if (decoder.tied) {
    weights.pass_over({tied_unembedding(decoder.names.unembedding)});
  }
  Model model = read_encoder_decoder(encoder, decoder, std::move(weights));
  model.config.first_token = decoder_start(config).value_or(0);
  return model;
}

}  // namespace

Model read_t5(const HfConfig& config, TensorFiles files) {
  return read_t5(config, std::move(files), {"relu", /*tied=*/true, false});
}

Model read_mt5(const HfConfig& config, TensorFiles files) {
  return read_t5(config, std::move(files), {"gated-gelu", false, false});
}

Model read_umt5(const HfConfig& config, TensorFiles files) {
  return read_t5(config, std::move(files), {"gated-gelu", false, /*bias_of_each_layer=*/true});
}

}  // namespace attnviz
