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
  traits.rope =
      std::make_shared<const Rope>(read_config_rope(config, {d_head, traits.n_ctx, kRotatedShare}));
  traits.by_head = true;
  traits.attention_bias = present_if(config.flag_or("attention_bias", true));
  traits.tied = config.flag_or("tie_word_embeddings", false);
  return read_gpt(traits, WeightReader(std::move(files), {"gpt_neox.", ""}, "embed_in.weight"));
}

}  // namespace attnviz
