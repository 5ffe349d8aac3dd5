// GPT-2 (Radford et al. 2019): learned positions, Conv1D weights, a tied head.

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/parts.h"

namespace attnviz {

namespace {

struct Shape {
  std::size_t d_model, n_heads, d_ff;
  double epsilon;
};

LayerWeights read_layer(const HfConfig& config, WeightReader& weights, const Shape& shape,
                        std::size_t index) {
  const std::string name = fmt::format("h.{}.", index);
  const std::size_t d = shape.d_model;
  LayerWeights layer;
  const Projection qkv = weights.conv1d(name + "attn.c_attn", d, 3 * d);
  layer.heads = cut_heads(config, {columns(qkv, 0, d), columns(qkv, d, d), columns(qkv, 2 * d, d)},
                          shape.n_heads, shape.n_heads);
  layer.output = weights.conv1d(name + "attn.c_proj", d, d);
  layer.attention_norm = read_layer_norm(weights, name + "ln_1", d, shape.epsilon);
  layer.mlp_norm = read_layer_norm(weights, name + "ln_2", d, shape.epsilon);
  layer.mlp.up = weights.conv1d(name + "mlp.c_fc", d, shape.d_ff);
  layer.mlp.down = weights.conv1d(name + "mlp.c_proj", shape.d_ff, d);
  layer.mlp.activation = read_activation(config, "activation_function", "gelu_new");
  double scale = 1.0;
  if (config.flag_or("scale_attn_weights", true)) {
    scale /= std::sqrt(static_cast<double>(layer.heads.front().d_head()));
  }
  if (config.flag_or("scale_attn_by_inverse_layer_idx", false)) {
    scale /= static_cast<double>(index + 1);
  }
  layer.score_scale = scale;
  return layer;
}

}  // namespace

Model read_gpt2(const HfConfig& config, TensorFiles files) {
  Shape shape{};
  shape.d_model = config.size({"n_embd", "hidden_size"});
  shape.n_heads = config.size({"n_head", "num_attention_heads"});
  even_share(config, shape.d_model, shape.n_heads);
  shape.d_ff = config.size_or("n_inner", 4 * shape.d_model);
  shape.epsilon = config.positive_or("layer_norm_epsilon", 1e-5);
  const std::size_t n_layers = config.size({"n_layer", "num_hidden_layers"});
  const std::size_t n_vocab = config.size("vocab_size");

  WeightReader weights(std::move(files), {"transformer.", ""}, "wte.weight");
  Model model;
  model.config.d_model = shape.d_model;
  model.config.n_ctx = config.size({"n_positions", "n_ctx", "max_position_embeddings"});
  model.config.positions = Positions::kLearned;
  model.config.order = LayerOrder::kPreNorm;
  model.embeddings = weights.table("wte.weight", n_vocab, shape.d_model);
  model.position_embeddings = weights.table("wpe.weight", model.config.n_ctx, shape.d_model);
  for (std::size_t i = 0; i < n_layers; ++i) {
    model.layers.push_back(read_layer(config, weights, shape, i));
  }
  model.head.norm = read_layer_norm(weights, "ln_f", shape.d_model, shape.epsilon);
  model.head.unembedding = read_unembedding(
      weights, "lm_head", config.flag_or("tie_word_embeddings", true), model.embeddings);
  model.storage = weights.storage();
  model.stored = weights.stored();
  return model;
}

}  // namespace attnviz
