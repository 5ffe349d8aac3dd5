#include "attnviz/model/families/gpt.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnviz {

namespace {

class GptReader {
 public:
  GptReader(const GptTraits& traits, WeightReader weights)
      : traits_(traits), names_(traits.names), weights_(std::move(weights)) {}

  Model read() {
    const std::size_t d = traits_.d_model;
    Model model;
    model.config.d_model = d;
    model.config.n_ctx = traits_.n_ctx;
    model.config.order = traits_.order;
    model.embeddings = weights_.table(weight(names_.embeddings), traits_.n_vocab, d);
    if (traits_.rope) {
      model.config.positions = Positions::kRope;
      model.config.n_ctx = std::max(traits_.n_ctx, traits_.rope->n_ctx);
    } else {
      model.config.positions = Positions::kLearned;
      model.position_embeddings = weights_.table(weight(names_.positions), traits_.n_ctx, d);
    }
    for (std::size_t i = 0; i < traits_.n_layers; ++i) {
      model.layers.push_back(read_layer(i));
    }
    model.head.norm = norm(names_.norm);
    model.head.unembedding =
        read_unembedding(weights_, names_.unembedding, traits_.tied, model.embeddings);
    model.storage = weights_.storage();
    model.stored = weights_.stored();
    return model;
  }

 private:
  static std::string weight(std::string_view name) { return fmt::format("{}.weight", name); }

  Norm norm(std::string_view name) {
    return read_layer_norm(weights_, name, traits_.d_model, traits_.epsilon);
  }

  Projection linear(const std::string& name, std::size_t d_in, std::size_t d_out,
                    Presence bias = Presence::kYes) {
    return traits_.conv1d ? weights_.conv1d(name, d_in, d_out)
                          : weights_.linear(name, d_in, d_out, bias);
  }

  std::vector<HeadWeights> read_heads(const Projection& qkv) const {
    const std::size_t d = traits_.d_model;
    if (!traits_.by_head) {
      return cut_heads(traits_.where,
                       {columns(qkv, 0, d), columns(qkv, d, d), columns(qkv, 2 * d, d)},
                       traits_.n_heads, traits_.n_heads);
    }
    const std::size_t d_head = d / traits_.n_heads;
    std::vector<HeadWeights> heads(traits_.n_heads);
    for (std::size_t head = 0; head < traits_.n_heads; ++head) {
      const std::size_t first = 3 * head * d_head;
      heads[head].query = columns(qkv, first, d_head);
      heads[head].key = columns(qkv, first + d_head, d_head);
      heads[head].value = columns(qkv, first + 2 * d_head, d_head);
    }
    return heads;
  }

  // 0: 1 / √d_head.
  double score_scale(std::size_t layer) const {
    if (traits_.scale_scores && !traits_.scale_by_layer) {
      return 0.0;
    }
    const std::size_t d_head = traits_.d_model / traits_.n_heads;
    const double scale = traits_.scale_scores ? 1.0 / std::sqrt(static_cast<double>(d_head)) : 1.0;
    return traits_.scale_by_layer ? scale / static_cast<double>(layer + 1) : scale;
  }

  LayerWeights read_layer(std::size_t index) {
    const LayerNaming named(names_.layer, index);
    const std::size_t d = traits_.d_model;
    const Presence bias = traits_.attention_bias;
    LayerWeights layer;
    layer.heads = read_heads(linear(named(names_.qkv), d, 3 * d, bias));
    layer.output = linear(named(names_.output), d, d, bias);
    layer.attention_norm = norm(named(names_.attention_norm));
    layer.mlp_norm = norm(named(names_.mlp_norm));
    layer.mlp.up = linear(named(names_.up), d, traits_.d_ff);
    layer.mlp.down = linear(named(names_.down), traits_.d_ff, d);
    layer.mlp.activation = traits_.activation;
    layer.score_scale = score_scale(index);
    layer.rope = traits_.rope;
    return layer;
  }

  const GptTraits& traits_;
  const GptNames& names_;
  WeightReader weights_;
};

}  // namespace

Model read_gpt(const GptTraits& traits, WeightReader weights) {
  return GptReader(traits, std::move(weights)).read();
}

}  // namespace attnviz
