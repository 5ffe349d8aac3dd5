// OPT (Zhang et al. 2022): GPT-3's layers with ReLU, learned positions from row 2 on. The model of
// 350M parameters norms behind its sums, and has narrower embeddings.

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_opt(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kFirstPosition = 2;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "decoder.embed_tokens",
      .positions = "decoder.embed_positions",
      .embedding_projection = "decoder.project_in",
      .output_projection = "decoder.project_out",
      .norm = "decoder.final_layer_norm",
      .unembedding = "lm_head",
      .layer = "decoder.layers.{}.",
      .query = "self_attn.q_proj",
      .key = "self_attn.k_proj",
      .value = "self_attn.v_proj",
      .output = "self_attn.out_proj",
      .attention_norm = "self_attn_layer_norm",
      .mlp_norm = "final_layer_norm",
      .up = "fc1",
      .down = "fc2",
  };
  if (!config.flag_or("layer_norm_elementwise_affine", true)) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}layer_norm_elementwise_affine: expected true, found false", traits.where));
  }
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size("hidden_size");
  traits.n_heads = traits.n_kv_heads = config.size("num_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size({"ffn_dim", "intermediate_size"});
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  learn_positions(traits, traits.n_ctx + kFirstPosition, kFirstPosition);
  const std::size_t d_embed = config.size_or("word_embed_proj_dim", traits.d_model);
  traits.d_embed = d_embed == traits.d_model ? 0 : d_embed;
  const bool norms_first = config.flag_or("do_layer_norm_before", true);
  traits.order = norms_first ? LayerOrder::kPreNorm : LayerOrder::kPostNorm;
  const bool is_removed = config.flag_or("_remove_final_layer_norm", false);
  traits.last_norm = norms_first && !is_removed;
  norm_layers(traits, Presence::kYes, 1e-5);
  set_biases(traits, present_if(config.flag_or("enable_bias", true)));
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "relu");
  traits.tied = is_tied(config, true);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
