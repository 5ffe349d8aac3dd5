#include "attnviz/model/families/bart_traits.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/hf_traits.h"
#include "attnviz/model/families/readers/encoder_decoder_reader.h"

namespace attnviz {

namespace {

constexpr TensorNames kEncoder = {
    .embeddings = "shared",
    .positions = "encoder.embed_positions",
    .embedding_norm = "encoder.layernorm_embedding",
    .norm = "encoder.layer_norm",
    .layer = "encoder.layers.{}.",
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .output = "self_attn.out_proj",
    .attention_norm = "self_attn_layer_norm",
    .mlp_norm = "final_layer_norm",
    .up = "fc1",
    .down = "fc2",
};

constexpr TensorNames decoder_names() {
  TensorNames names = kEncoder;
  names.positions = "decoder.embed_positions";
  names.embedding_norm = "decoder.layernorm_embedding";
  names.norm = "decoder.layer_norm";
  names.unembedding = "lm_head";
  names.layer = "decoder.layers.{}.";
  names.cross_query = "encoder_attn.q_proj";
  names.cross_key = "encoder_attn.k_proj";
  names.cross_value = "encoder_attn.v_proj";
  names.cross_output = "encoder_attn.out_proj";
  names.cross_norm = "encoder_attn_layer_norm";
  names.logit_bias = "final_logits_bias";
  return names;
}

void read_layers(const HfConfig& config, std::string_view stack, Traits& traits) {
  constexpr std::size_t kLayers = 12;
  constexpr std::size_t kHeads = 16;
  constexpr std::size_t kFeedForward = 4096;
  const auto size = [&](std::string_view key, std::size_t otherwise) {
    return config.size_or(fmt::format("{}_{}", stack, key), otherwise);
  };
  traits.n_layers = size("layers", kLayers);
  traits.d_ff = size("ffn_dim", kFeedForward);
  traits.n_heads = traits.n_kv_heads = size("attention_heads", kHeads);
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
}

}  // namespace

BartTraits bart_traits(const HfConfig& config) {
  constexpr std::size_t kContext = 1024;
  constexpr std::size_t kWidth = 1024;
  require(config, "is_encoder_decoder", "true");
  require(config, "add_bias_logits", "false");
  config.find("num_hidden_layers");  // the encoder's
  config.find("layer_norm_eps");     // of other families: layers here have 1e-5 in any case
  BartTraits traits;
  Traits& encoder = traits.encoder;
  encoder.where = config.node().where();
  encoder.names = kEncoder;
  encoder.n_vocab = config.size_if_there("vocab_size").value_or(0);
  encoder.d_model = config.size_or("d_model", kWidth);
  encoder.n_ctx = config.size_or("max_position_embeddings", kContext);
  read_layers(config, "encoder", encoder);
  encoder.order = LayerOrder::kPostNorm;
  encoder.sees_all = true;
  norm_layers(encoder, Presence::kYes, 1e-5);
  set_biases(encoder, Presence::kYes);
  encoder.last_norm = false;
  encoder.gated = false;
  encoder.activation = read_activation(config, "activation_function", "gelu");
  if (config.flag_or("scale_embedding", false)) {
    encoder.embedding_scale = std::sqrt(static_cast<float>(encoder.d_model));
  }
  Traits& decoder = traits.decoder = encoder;
  decoder.names = decoder_names();
  read_layers(config, "decoder", decoder);
  decoder.sees_all = false;
  decoder.has_cross = true;
  decoder.tied = is_tied(config, true);
  return traits;
}

Model read_bart_stacks(const BartTraits& traits, TensorFiles files) {
  WeightReader weights(std::move(files), {"model.", ""},
                       "encoder.layers.0.self_attn.q_proj.weight");
  share_embeddings(weights, traits.decoder.tied);
  weights.pass_over(heads_of_other_tasks());
  constexpr std::string_view kLayout = "the layout of another program's files";
  weights.pass_over({{"classification_head.*", kOtherTask},
                     {"encoder.version", kLayout},
                     {"decoder.version", kLayout}});
  if (traits.encoder.positions == Positions::kSinusoidal) {
    weights.pass_over(
        {{"encoder.embed_positions.weight", kBuffer}, {"decoder.embed_positions.weight", kBuffer}});
  }
  if (traits.decoder.tied) {
    weights.pass_over({tied_unembedding(traits.decoder.names.unembedding)});
  }
  return read_encoder_decoder(traits.encoder, traits.decoder, std::move(weights));
}

}  // namespace attnviz
