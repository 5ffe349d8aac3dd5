// BLOOM (Le Scao et al. 2022): ALiBi in place of positions, a norm behind the embeddings.

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_bloom(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kTimesWider = 4;
  constexpr std::string_view kOtherSum = "apply_residual_connection_post_layernorm";
  if (config.flag_or(kOtherSum, false)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected false, found true", config.node().where(), kOtherSum));
  }
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "word_embeddings",
      .embedding_norm = "word_embeddings_layernorm",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .qkv = "self_attention.query_key_value",
      .output = "self_attention.dense",
      .attention_norm = "input_layernorm",
      .mlp_norm = "post_attention_layernorm",
      .up = "mlp.dense_h_to_4h",
      .down = "mlp.dense_4h_to_h",
  };
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"n_embed", "hidden_size"});
  traits.n_heads = traits.n_kv_heads = config.size({"num_attention_heads", "n_head"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = kTimesWider * traits.d_model;
  if (const std::size_t said = config.size_or("n_inner", traits.d_ff); said != traits.d_ff) {
    config.node().fail(fmt::format("n_inner: expected {}, found {}", traits.d_ff, said));
  }
  traits.n_ctx = config.size_or("seq_length", kContext);
  traits.positions = Positions::kAlibi;
  traits.embedding_norm = true;
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  set_biases(traits, Presence::kYes);
  traits.qkv = QkvStorage::kByGroup;
  traits.gated = false;
  traits.activation = Activation::kGeluTanh;
  traits.tied = is_tied(config, true);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
