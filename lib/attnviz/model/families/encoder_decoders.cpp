// BART (Lewis et al. 2020), with norms after the sums, and mBART (Liu et al. 2020), with norms
// before attention and MLP and at the end of each stack. Marian (Junczys-Dowmunt et al. 2018), the
// form of OPUS-MT's translation models: the encoder-decoder of Vaswani et al. 2017, norms after the
// sums.
#include "attnviz/model/families/families.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/readers/part_readers.h"

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
  config.find("layer_norm_eps");     // other families use it: layers here always have 1e-5
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

namespace {

constexpr std::size_t kFirstPosition = 2;

// Old configs name options of fairseq. Transformers has one form of each family.
void require_form(const HfConfig& config, bool norms_first) {
  for (const std::string_view key : {"normalize_before", "add_final_layer_norm"}) {
    require(config, key, norms_first ? "true" : "false");
  }
  require(config, "normalize_embedding", "true");
  require(config, "static_position_embeddings", "false");
  require(config, "do_blenderbot_90_layernorm", "false");
  require(config, "extra_pos_embeddings", fmt::format("{}", kFirstPosition));
}

Model read(const HfConfig& config, TensorFiles files, bool norms_first) {
  require_form(config, norms_first);
  BartTraits traits = bart_traits(config);
  for (Traits* const stack : {&traits.encoder, &traits.decoder}) {
    use_learned_positions(*stack, stack->n_ctx + kFirstPosition, kFirstPosition);
    stack->embedding_norm = true;
    stack->order = norms_first ? LayerOrder::kPreNorm : LayerOrder::kPostNorm;
    stack->last_norm = norms_first;
  }
  return read_bart_stacks(traits, std::move(files));
}

}  // namespace

Model read_bart(const HfConfig& config, TensorFiles files) {
  constexpr std::uint32_t kStart = 2;
  Model model = read(config, std::move(files), /*norms_first=*/false);
  model.config.first_token = token_id(config, "decoder_start_token_id").value_or(kStart);
  // Older configs have this flag instead of the id of the token.
  if (config.flag_or("force_bos_token_to_be_generated", false)) {
    model.config.forced_token = token_id(config, "bos_token_id").value_or(0);
  }
  return model;
}

Model read_mbart(const HfConfig& config, TensorFiles files) {
  Model model = read(config, std::move(files), /*norms_first=*/true);
  // Each translation begins with the token of its language. If no config names it, transformers
  // begins with the beginning-of-text token.
  const std::optional<std::uint32_t> start = token_id(config, "decoder_start_token_id");
  model.config.first_token = start ? *start : token_id(config, "bos_token_id").value_or(0);
  return model;
}

Model read_marian(const HfConfig& config, TensorFiles files) {
  for (const std::string_view key :
       {"share_encoder_decoder_embeddings", "static_position_embeddings", "tie_word_embeddings"}) {
    require(config, key, "true");
  }
  for (const std::string_view key :
       {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) {
    require(config, key, "false");
  }
  BartTraits traits = bart_traits(config);
  for (Traits* const stack : {&traits.encoder, &traits.decoder}) {
    stack->positions = Positions::kSinusoidal;
  }
  if (const auto n_vocab = config.size_if_there("decoder_vocab_size");
      n_vocab && *n_vocab != traits.encoder.n_vocab) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}decoder_vocab_size: expected {} as vocab_size says, found {}",
                            traits.encoder.where, traits.encoder.n_vocab, *n_vocab));
  }
  Model model = read_bart_stacks(traits, std::move(files));
  auto reader = std::make_shared<Model>(*model.encoder);
  model.sines_first = reader->sines_first = true;
  model.encoder = std::move(reader);
  const std::optional<std::uint32_t> start = decoder_start(config);
  if (!start) {
    config.node().fail("decoder_start_token_id: expected a token id, found none");
  }
  model.config.first_token = *start;
  // The decoder's start token never occurs in a text; bad_words_ids forbids it.
  model.config.never_written = {*start};
  return model;
}

// T5 (Raffel et al. 2020), mT5 (Xue et al. 2021) and UMT5 (Chung et al. 2023): encoder and decoder
// with relative positions, whose scores are not scaled.

namespace {

// The differences between the families.
struct T5Defaults {
  std::string_view feed_forward;
  bool tied = false;
  bool bias_of_each_layer = false;
};

constexpr TensorNames kT5Encoder = {
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

constexpr TensorNames t5_decoder_names() {
  TensorNames names = kT5Encoder;
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

// "relu", "gated-gelu", "gated-silu": for "relu" the MLP's only wide matrix is `wi`.
void read_feed_forward(const HfConfig& config, std::string_view otherwise, Traits& traits) {
  constexpr std::string_view kKey = "feed_forward_proj";
  const std::string_view name = config.text_or(kKey, otherwise);
  if (name != "relu" && name != "gated-gelu" && name != "gated-silu") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected relu, gated-gelu or gated-silu, found {}", traits.where,
                            kKey, in_quotes(name)));
  }
  traits.gated = name != "relu";
  traits.activation = name == "relu"         ? Activation::kRelu
                      : name == "gated-gelu" ? Activation::kGeluTanh
                                             : Activation::kSilu;
  config.find("dense_act_fn");  // follows from feed_forward_proj
  config.find("is_gated_act");
}

Traits encoder_traits(const HfConfig& config, const T5Defaults& defaults) {
  constexpr std::size_t kBuckets = 32;
  constexpr std::size_t kMostDistance = 128;
  Traits traits;
  traits.where = config.node().where();
  traits.names = kT5Encoder;
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
  traits.names = t5_decoder_names();
  if (!traits.gated) {
    traits.names.up = "layer.2.DenseReluDense.wi";
  }
  traits.n_layers = config.size_or("num_decoder_layers", encoder.n_layers);
  traits.sees_all = false;
  traits.has_cross = true;
  traits.tied = is_tied(config, defaults.tied);
  // Later configs have a separate key for scaling the decoder's output, and call all models tied.
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
  config.find("n_positions");  // used in training: relative positions have no limit
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
