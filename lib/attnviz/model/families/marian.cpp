// Marian (Junczys-Dowmunt et al. 2018), as OPUS-MT's translation models are: the encoder-decoder of
// Vaswani et al. 2017, norms behind the sums.

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"
#include "attnviz/model/families/readers/encoder_decoder_reader.h"

namespace attnviz {

namespace {

constexpr TensorNames kEncoder = {
    .embeddings = "shared",
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

void require_flag(const HfConfig& config, std::string_view key, bool expected) {
  if (config.flag_or(key, expected) != expected) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected {}, found {}", config.node().where(), key, expected,
                            !expected));
  }
}

Traits encoder_traits(const HfConfig& config) {
  constexpr std::size_t kContext = 1024;
  Traits traits;
  traits.where = config.node().where();
  traits.names = kEncoder;
  traits.n_layers = config.size("encoder_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size("d_model");
  traits.d_ff = config.size("encoder_ffn_dim");
  traits.n_heads = traits.n_kv_heads = config.size("encoder_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  traits.positions = Positions::kSinusoidal;
  traits.order = LayerOrder::kPostNorm;
  traits.sees_all = true;
  norm_layers(traits, Presence::kYes, 1e-5);
  set_biases(traits, Presence::kYes);
  traits.last_norm = false;
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "gelu");
  if (config.flag_or("scale_embedding", false)) {
    traits.embedding_scale = std::sqrt(static_cast<float>(traits.d_model));
  }
  return traits;
}

Traits decoder_traits(const HfConfig& config, const Traits& encoder) {
  Traits traits = encoder;
  traits.names = decoder_names();
  traits.n_layers = config.size("decoder_layers");
  traits.d_ff = config.size("decoder_ffn_dim");
  traits.n_heads = traits.n_kv_heads = config.size("decoder_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.sees_all = false;
  traits.has_cross = true;
  traits.tied = true;
  return traits;
}

}  // namespace

Model read_marian(const HfConfig& config, TensorFiles files) {
  for (const std::string_view key : {"is_encoder_decoder", "share_encoder_decoder_embeddings",
                                     "static_position_embeddings", "tie_word_embeddings"}) {
    require_flag(config, key, true);
  }
  for (const std::string_view key :
       {"normalize_before", "normalize_embedding", "add_final_layer_norm", "add_bias_logits"}) {
    require_flag(config, key, false);
  }
  config.find("num_hidden_layers");  // the encoder's
  const Traits encoder = encoder_traits(config);
  const Traits decoder = decoder_traits(config, encoder);
  if (const auto n_vocab = config.size_if_there("decoder_vocab_size");
      n_vocab && *n_vocab != encoder.n_vocab) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}decoder_vocab_size: expected {} as vocab_size says, found {}",
                            encoder.where, encoder.n_vocab, *n_vocab));
  }
  WeightReader weights(std::move(files), {"model.", ""},
                       "encoder.layers.0.self_attn.q_proj.weight");
  find_shared_embeddings(weights, {"model.encoder.embed_tokens.weight",
                                   "model.decoder.embed_tokens.weight", "lm_head.weight"});
  constexpr std::string_view kShared = "the shared embeddings stand in its place";
  weights.pass_over({{"encoder.embed_positions.weight", kBuffer},
                     {"decoder.embed_positions.weight", kBuffer},
                     {"encoder.embed_tokens.weight", kShared},
                     {"decoder.embed_tokens.weight", kShared},
                     tied_unembedding("lm_head")});
  Model model = read_encoder_decoder(encoder, decoder, std::move(weights));
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
