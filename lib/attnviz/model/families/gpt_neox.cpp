// GPT-NeoX and Pythia (Black et al. 2022): a head's query, key and value side by side, partial
// rotary positions, attention and MLP in parallel.

#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_gpt_neox(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.25;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embed_in",
      .norm = "final_layer_norm",
      .unembedding = "embed_out",
      .layer = "layers.{}.",
      .qkv = "attention.query_key_value",
      .output = "attention.dense",
      .attention_norm = "input_layernorm",
      .mlp_norm = "post_attention_layernorm",
      .up = "mlp.dense_h_to_4h",
      .down = "mlp.dense_4h_to_h",
  };
  traits.d_model = config.size("hidden_size");
  traits.n_heads = traits.n_kv_heads = config.size("num_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size("intermediate_size");
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_eps", 1e-5));
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.n_ctx = config.size("max_position_embeddings");
  traits.activation = read_activation(config, "hidden_act", "gelu");
  traits.gated = false;
  traits.mlp_bias = Presence::kYes;
  traits.order =
      config.flag_or("use_parallel_residual", true) ? LayerOrder::kParallel : LayerOrder::kPreNorm;
  RopeFacts rope{traits.d_head, traits.n_ctx, kRotatedShare};
  rope.old_base_key = "rotary_emb_base";
  rope.old_share_key = "rotary_pct";
  rotate_all(config, rope, traits);
  traits.qkv = QkvStorage::kByGroup;
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", true));
  traits.tied = config.flag_or("tie_word_embeddings", false);
  return read_hf_decoder(std::move(files), traits,
                         {{"layers.#.attention.rotary_emb.inv_freq", kBuffer},
                          {"layers.#.attention.rotary_emb.cos_cached", kBuffer},
                          {"layers.#.attention.rotary_emb.sin_cached", kBuffer}});
}

}  // namespace attnviz
