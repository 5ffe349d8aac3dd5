// GPT-2 (Radford et al. 2019): learned positions, Conv1D weights, a tied head.

#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_gpt2(const HfConfig& config, TensorFiles files) {
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "wte",
      .positions = "wpe",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .qkv = "attn.c_attn",
      .output = "attn.c_proj",
      .attention_norm = "ln_1",
      .mlp_norm = "ln_2",
      .up = "mlp.c_fc",
      .down = "mlp.c_proj",
  };
  traits.d_model = config.size({"n_embd", "hidden_size"});
  traits.n_heads = traits.n_kv_heads = config.size({"n_head", "num_attention_heads"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("n_inner", 4 * traits.d_model);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  set_biases(traits, Presence::kYes);
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.n_ctx = config.size({"n_positions", "n_ctx", "max_position_embeddings"});
  learn_positions(traits, traits.n_ctx);
  traits.qkv = QkvStorage::kStacked;
  traits.conv1d = true;
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "gelu_new");
  traits.tied = config.flag_or("tie_word_embeddings", true);
  traits.score_scale = config.flag_or("scale_attn_weights", true) ? 0.0 : 1.0;
  traits.scale_by_layer = config.flag_or("scale_attn_by_inverse_layer_idx", false);
  return read_hf_decoder(std::move(files), traits, {{"multiple_choice_head.*", kOtherTask}});
}

}  // namespace attnviz
