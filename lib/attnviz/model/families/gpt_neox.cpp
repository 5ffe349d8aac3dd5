// GPT-NeoX and Pythia (Black et al. 2022): a head's query, key and value side by side, partial
// rotary positions, attention and MLP in parallel.

#include <memory>
#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/gpt.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

Model read_gpt_neox(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.25;
  GptTraits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embed_in",
      .positions = "",
      .norm = "final_layer_norm",
      .unembedding = "embed_out",
      .layer = "layers.{}.",
      .attention_norm = "input_layernorm",
      .qkv = "attention.query_key_value",
      .output = "attention.dense",
      .mlp_norm = "post_attention_layernorm",
      .up = "mlp.dense_h_to_4h",
      .down = "mlp.dense_4h_to_h",
  };
  traits.d_model = config.size("hidden_size");
  traits.n_heads = config.size("num_attention_heads");
  const std::size_t d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size("intermediate_size");
  traits.epsilon = config.positive_or("layer_norm_eps", 1e-5);
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.n_ctx = config.size("max_position_embeddings");
  traits.activation = read_activation(config, "hidden_act", "gelu");
  traits.order =
      config.flag_or("use_parallel_residual", true) ? LayerOrder::kParallel : LayerOrder::kPreNorm;
  RopeFacts rope{d_head, traits.n_ctx, kRotatedShare};
  rope.old_base_key = "rotary_emb_base";
  rope.old_share_key = "rotary_pct";
  traits.rope = std::make_shared<const Rope>(read_config_rope(config, rope));
  traits.by_head = true;
  traits.attention_bias = present_if(config.flag_or("attention_bias", true));
  traits.tied = config.flag_or("tie_word_embeddings", false);
  WeightReader weights(std::move(files), {"gpt_neox.", ""}, "embed_in.weight");
  weights.pass_over(heads_of_other_tasks());
  weights.pass_over({{"rotary_emb.inv_freq", kBuffer},
                     {"layers.#.attention.rotary_emb.inv_freq", kBuffer},
                     {"layers.#.attention.rotary_emb.cos_cached", kBuffer},
                     {"layers.#.attention.rotary_emb.sin_cached", kBuffer},
                     {"layers.#.attention.bias", kBuffer},
                     {"layers.#.attention.masked_bias", kBuffer}});
  if (traits.tied) {
    weights.pass_over({tied_unembedding(traits.names.unembedding)});
  }
  return read_gpt(traits, std::move(weights));
}

}  // namespace attnviz
