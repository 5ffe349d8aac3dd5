// BART (Lewis et al. 2020), with norms after the sums, and mBART (Liu et al. 2020), with norms
// before attention and MLP and at the end of each stack. Marian (Junczys-Dowmunt et al. 2018), as
// OPUS-MT's translation models are: the encoder-decoder of Vaswani et al. 2017, norms behind the
// sums.
#include "attnviz/model/families/bart.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"
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

namespace {

constexpr std::size_t kFirstPosition = 2;

// Old configs name what fairseq could vary. Transformers has one form of each family.
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
    learn_positions(*stack, stack->n_ctx + kFirstPosition, kFirstPosition);
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
  // Where decoders begin is no token of any text; models are told so with bad_words_ids.
  model.config.never_written = {*start};
  return model;
}

}  // namespace attnviz
