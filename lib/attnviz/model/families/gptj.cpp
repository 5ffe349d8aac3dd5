// GPT-J (Wang and Komatsuzaki 2021): attention and MLP in parallel from one layer norm,
// neighbouring dimensions of a part of each head turn.

#include <fmt/core.h>

#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_gptj(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kTimesWider = 4;
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kRotated = 64;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "wte",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .query = "attn.q_proj",
      .key = "attn.k_proj",
      .value = "attn.v_proj",
      .output = "attn.out_proj",
      .attention_norm = "ln_1",
      .up = "mlp.fc_in",
      .down = "mlp.fc_out",
  };
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"n_embd", "hidden_size"});
  traits.n_heads = traits.n_kv_heads = config.size({"n_head", "num_attention_heads"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("n_inner", kTimesWider * traits.d_model);
  traits.n_ctx = config.size_or("n_positions", kContext);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  traits.mlp_bias = traits.unembedding_bias = Presence::kYes;
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "gelu_new");
  config.find("scale_attn_weights");  // GPT-2's; scores are scaled whatever it says
  traits.tied = is_tied(config, false);
  if (const auto said = config.find_or_null("rotary_dim");
      said && said->kind() == JsonKind::kNull) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a whole number, found null", said->where()));
  }
  const std::size_t n_rotated = config.size_or("rotary_dim", kRotated);
  if (n_rotated > traits.d_head || n_rotated % 2 != 0) {
    config.node().fail(fmt::format("rotary_dim: expected an even number up to {}, found {}",
                                   traits.d_head, n_rotated));
  }
  Rope rope = plain_rope(n_rotated, RopeFacts().base, traits.n_ctx);
  rope.pairing = RopePairing::kNeighbours;
  traits.rope = [rope = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
    return rope;
  };
  return read_hf_decoder(std::move(files), traits, {{"h.#.attn.embed_positions", kBuffer}});
}

}  // namespace attnviz
