#include "attnviz/model/families/encoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

class EncoderReader {
 public:
  EncoderReader(const EncoderTraits& traits, WeightReader weights)
      : traits_(traits), names_(traits.names), weights_(std::move(weights)) {}

  Model read() {
    const std::size_t d = traits_.d_model;
    even_share(traits_.where, d, traits_.n_heads);
    if (traits_.n_positions <= traits_.first_position) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}max_position_embeddings: expected more than {}, found {}",
                              traits_.where, traits_.first_position, traits_.n_positions));
    }
    Model model;
    model.config.d_model = d;
    model.config.n_ctx = traits_.n_positions - traits_.first_position;
    model.config.mask.kind = MaskKind::kNone;
    model.config.positions = Positions::kLearned;
    model.config.order = LayerOrder::kPostNorm;
    model.embeddings = table(names_.embeddings, traits_.n_vocab);
    model.position_embeddings = table(names_.positions, traits_.n_positions);
    model.first_position = traits_.first_position;
    model.no_position = traits_.no_position;
    if (traits_.n_segments > 0) {
      model.segment_embeddings = table(names_.segments, traits_.n_segments);
    }
    model.embedding_norm = norm(names_.embedding_norm);
    for (std::size_t i = 0; i < traits_.n_layers; ++i) {
      model.layers.push_back(read_layer(i));
    }
    read_head(model);
    model.storage = weights_.storage();
    model.stored = weights_.stored();
    return model;
  }

 private:
  StoredMatrix table(std::string_view name, std::size_t rows) {
    return weights_.table(fmt::format("{}.weight", name), rows, traits_.d_model);
  }
  Norm norm(std::string_view name) {
    return read_layer_norm(weights_, name, traits_.d_model, traits_.epsilon);
  }

  LayerWeights read_layer(std::size_t index) {
    const LayerNaming named(names_.layer, index);
    const std::size_t d = traits_.d_model;
    const auto square = [&](std::string_view name) {
      return weights_.linear(named(name), d, d, Presence::kYes);
    };
    LayerWeights layer;
    layer.heads =
        cut_heads(traits_.where, {square(names_.query), square(names_.key), square(names_.value)},
                  traits_.n_heads, traits_.n_heads);
    layer.output = square(names_.output);
    layer.attention_norm = norm(named(names_.attention_norm));
    layer.mlp.up = weights_.linear(named(names_.up), d, traits_.d_ff, Presence::kYes);
    layer.mlp.down = weights_.linear(named(names_.down), traits_.d_ff, d, Presence::kYes);
    layer.mlp.activation = traits_.activation;
    layer.mlp_norm = norm(named(names_.mlp_norm));
    return layer;
  }

  // What guesses masked tokens, which base models lack.
  void read_head(Model& model) {
    if (names_.transform.empty() || !weights_.has(fmt::format("{}.weight", names_.transform))) {
      return;
    }
    model.head.transform =
        weights_.linear(names_.transform, traits_.d_model, traits_.d_model, Presence::kYes);
    model.head.activation = traits_.head_activation;
    model.head.transform_norm = norm(names_.transform_norm);
    const bool is_tied =
        traits_.tied || !weights_.has(fmt::format("{}.weight", names_.unembedding));
    model.head.unembedding =
        read_unembedding(weights_, names_.unembedding, is_tied, model.embeddings);
    read_head_bias(model.head.unembedding);
    if (traits_.tied) {
      weights_.pass_over({tied_unembedding(names_.unembedding)});
    }
  }

  // One parameter under two names, which files may hold twice.
  void read_head_bias(Projection& unembedding) {
    const std::string other = fmt::format("{}.bias", names_.unembedding);
    unembedding.bias = weights_.vector({names_.unembedding_bias, other}, traits_.n_vocab);
    if (weights_.has(other) &&
        !std::ranges::equal(weights_.vector(other, traits_.n_vocab), unembedding.bias)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected the numbers of {}", weights_.where(other),
                              names_.unembedding_bias));
    }
  }

  const EncoderTraits& traits_;
  const EncoderNames& names_;
  WeightReader weights_;
};

}  // namespace

Model read_encoder(const EncoderTraits& traits, WeightReader weights) {
  return EncoderReader(traits, std::move(weights)).read();
}

}  // namespace attnviz
