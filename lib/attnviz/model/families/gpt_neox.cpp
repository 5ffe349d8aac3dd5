// GPT-NeoX and Pythia (Black et al. 2022): a head's query, key and value side by side, partial
// rotary positions, attention and MLP in parallel.

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/parts.h"
#include "attnviz/model/rope.h"

namespace attnviz {

namespace {

struct Shape {
  std::size_t d_model, n_heads, d_ff;
  double epsilon;
  bool bias;
};

LayerWeights read_layer(const HfConfig& config, WeightReader& weights, const Shape& shape,
                        std::size_t index) {
  const std::string name = fmt::format("layers.{}.", index);
  const std::size_t d = shape.d_model;
  const std::size_t d_head = d / shape.n_heads;
  LayerWeights layer;
  const Projection qkv = weights.linear(name + "attention.query_key_value", d, 3 * d, shape.bias);
  for (std::size_t head = 0; head < shape.n_heads; ++head) {
    const std::size_t first = 3 * head * d_head;
    HeadWeights cut;
    cut.query = columns(qkv, first, d_head);
    cut.key = columns(qkv, first + d_head, d_head);
    cut.value = columns(qkv, first + 2 * d_head, d_head);
    layer.heads.push_back(cut);
  }
  layer.output = weights.linear(name + "attention.dense", d, d, shape.bias);
  layer.attention_norm = read_layer_norm(weights, name + "input_layernorm", d, shape.epsilon);
  layer.mlp_norm = read_layer_norm(weights, name + "post_attention_layernorm", d, shape.epsilon);
  layer.mlp.up = weights.linear(name + "mlp.dense_h_to_4h", d, shape.d_ff, true);
  layer.mlp.down = weights.linear(name + "mlp.dense_4h_to_h", shape.d_ff, d, true);
  layer.mlp.activation = read_activation(config, "hidden_act", "gelu");
  return layer;
}

}  // namespace

Model read_gpt_neox(const HfConfig& config, TensorFiles files) {
  Shape shape{};
  shape.d_model = config.size("hidden_size");
  shape.n_heads = config.size("num_attention_heads");
  shape.d_ff = config.size("intermediate_size");
  shape.epsilon = config.positive_or("layer_norm_eps", 1e-5);
  shape.bias = config.flag_or("attention_bias", true);
  const std::size_t n_layers = config.size("num_hidden_layers");
  const std::size_t n_vocab = config.size("vocab_size");

  WeightReader weights(std::move(files), {"gpt_neox.", ""}, "embed_in.weight");
  Model model;
  model.config.d_model = shape.d_model;
  model.config.n_ctx = config.size("max_position_embeddings");
  model.config.positions = Positions::kRope;
  model.config.order =
      config.flag_or("use_parallel_residual", true) ? LayerOrder::kParallel : LayerOrder::kPreNorm;
  model.embeddings = weights.table("embed_in.weight", n_vocab, shape.d_model);
  const auto rope = std::make_shared<const Rope>(read_config_rope(
      config, {even_share(config, shape.d_model, shape.n_heads), model.config.n_ctx, 0.25}));
  model.config.n_ctx = std::max(model.config.n_ctx, rope->n_ctx);
  for (std::size_t i = 0; i < n_layers; ++i) {
    model.layers.push_back(read_layer(config, weights, shape, i));
    model.layers.back().rope = rope;
  }
  model.head.norm = read_layer_norm(weights, "final_layer_norm", shape.d_model, shape.epsilon);
  model.head.unembedding = read_unembedding(
      weights, "embed_out", config.flag_or("tie_word_embeddings", false), model.embeddings);
  model.storage = weights.storage();
  model.stored = weights.stored();
  return model;
}

}  // namespace attnviz
