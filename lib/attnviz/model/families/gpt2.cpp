// GPT-2 (Radford et al. 2019): learned positions, Conv1D weights, a tied head.

#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/gpt.h"

namespace attnviz {

Model read_gpt2(const HfConfig& config, TensorFiles files) {
  GptTraits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "wte",
      .positions = "wpe",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .attention_norm = "ln_1",
      .qkv = "attn.c_attn",
      .output = "attn.c_proj",
      .mlp_norm = "ln_2",
      .up = "mlp.c_fc",
      .down = "mlp.c_proj",
  };
  traits.d_model = config.size({"n_embd", "hidden_size"});
  traits.n_heads = config.size({"n_head", "num_attention_heads"});
  even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("n_inner", 4 * traits.d_model);
  traits.epsilon = config.positive_or("layer_norm_epsilon", 1e-5);
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.n_ctx = config.size({"n_positions", "n_ctx", "max_position_embeddings"});
  traits.activation = read_activation(config, "activation_function", "gelu_new");
  traits.conv1d = true;
  traits.tied = config.flag_or("tie_word_embeddings", true);
  traits.scale_scores = config.flag_or("scale_attn_weights", true);
  traits.scale_by_layer = config.flag_or("scale_attn_by_inverse_layer_idx", false);
  WeightReader weights(std::move(files), {"transformer.", ""}, "wte.weight");
  weights.pass_over(heads_of_other_tasks());
  weights.pass_over({{"h.#.attn.bias", kBuffer},
                     {"h.#.attn.masked_bias", kBuffer},
                     {"multiple_choice_head.*", kOtherTask}});
  if (traits.tied) {
    weights.pass_over({tied_unembedding(traits.names.unembedding)});
  }
  return read_gpt(traits, std::move(weights));
}

}  // namespace attnviz
