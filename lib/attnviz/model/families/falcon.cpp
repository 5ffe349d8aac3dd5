// Falcon (Almazrouei et al. 2023): attention and MLP in parallel, and key and value heads that many
// or all queries share.

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

void refuse_if(const HfConfig& config, std::string_view key) {
  if (config.flag_or(key, false)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected false, found true", config.node().where(), key));
  }
}

// In groups of queries with one key and one value each.
std::size_t kv_heads(const HfConfig& config, bool is_new, std::size_t n_heads) {
  const std::size_t said = config.size_or(
      "num_kv_heads", config.size_or("n_head_kv", config.size_or("num_key_value_heads", n_heads)));
  const bool shares_one = config.flag_or("multi_query", true) && !is_new;
  return shares_one ? 1 : said;
}

}  // namespace

Model read_falcon(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kTimesWider = 4;
  refuse_if(config, "alibi");
  refuse_if(config, "apply_residual_connection_post_layernorm");
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "word_embeddings",
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
  traits.n_layers = config.size({"num_hidden_layers", "n_layer"});
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"hidden_size", "n_embed"});
  traits.n_heads = config.size({"num_attention_heads", "n_head"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("ffn_hidden_size", kTimesWider * traits.d_model);
  config.find("ff_factor");  // ffn_hidden_size says what it comes to
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  const bool is_new = config.flag_or("new_decoder_architecture", false);
  traits.n_kv_heads = kv_heads(config, is_new, traits.n_heads);
  traits.qkv = QkvStorage::kByGroup;
  set_biases(traits, present_if(config.flag_or("bias", false)));
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  const std::size_t n_norms = config.size_or("num_ln_in_parallel_attn", is_new ? 2 : 1);
  const bool is_parallel = config.flag_or("parallel_attn", true);
  if (is_new || is_parallel) {
    traits.order = LayerOrder::kParallel;
    traits.one_norm = n_norms != 2;
    if (!traits.one_norm) {
      traits.names.attention_norm = "ln_attn";
      traits.names.mlp_norm = "ln_mlp";
    }
  }
  traits.gated = false;
  traits.activation = read_activation(config, "activation", "gelu");
  traits.tied = is_tied(config, true);
  rotate_all(config, traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
