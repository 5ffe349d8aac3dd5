// BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019) and DistilBERT (Sanh et al. 2019): every
// token sees every other one, norms stand behind the sums.

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/parts.h"

namespace attnviz {

namespace {

// The tensors' names, which the three spell differently. {} stands for the layer.
struct Names {
  std::string_view prefix;
  std::string_view layer, query, key, value, output, attention_norm, up, down, mlp_norm;
  std::string_view transform, transform_norm, unembedding, unembedding_bias;
};

constexpr Names kBert = {"bert.",
                         "encoder.layer.{}.",
                         "attention.self.query",
                         "attention.self.key",
                         "attention.self.value",
                         "attention.output.dense",
                         "attention.output.LayerNorm",
                         "intermediate.dense",
                         "output.dense",
                         "output.LayerNorm",
                         "cls.predictions.transform.dense",
                         "cls.predictions.transform.LayerNorm",
                         "cls.predictions.decoder",
                         "cls.predictions.bias"};

constexpr Names roberta_names() {
  Names names = kBert;
  names.prefix = "roberta.";
  names.transform = "lm_head.dense";
  names.transform_norm = "lm_head.layer_norm";
  names.unembedding = "lm_head.decoder";
  names.unembedding_bias = "lm_head.bias";
  return names;
}

constexpr Names kDistilbert = {
    "distilbert.",     "transformer.layer.{}.", "attention.q_lin", "attention.k_lin",
    "attention.v_lin", "attention.out_lin",     "sa_layer_norm",   "ffn.lin1",
    "ffn.lin2",        "output_layer_norm",     "vocab_transform", "vocab_layer_norm",
    "vocab_projector", "vocab_projector.bias"};

struct Shape {
  std::size_t d_model = 0;
  std::size_t n_heads = 0;
  std::size_t d_ff = 0;
  std::size_t n_layers = 0;
  std::size_t n_vocab = 0;
  std::size_t n_positions = 0;
  std::size_t first_position = 0;
  std::size_t n_segments = 0;
  double epsilon = 1e-12;
  std::string_view activation_key;
};

class EncoderReader {
 public:
  EncoderReader(const HfConfig& config, TensorFiles files, const Names& names, const Shape& shape)
      : config_(config),
        names_(names),
        shape_(shape),
        weights_(std::move(files), {names.prefix, ""}, "embeddings.word_embeddings.weight") {}

  Model read() {
    const std::size_t d = shape_.d_model;
    even_share(config_, d, shape_.n_heads);
    if (shape_.n_positions <= shape_.first_position) {
      config_.node().fail(fmt::format("max_position_embeddings: expected more than {}, found {}",
                                      shape_.first_position, shape_.n_positions));
    }
    Model model;
    model.config.d_model = d;
    model.config.n_ctx = shape_.n_positions - shape_.first_position;
    model.config.mask.kind = MaskKind::kNone;
    model.config.positions = Positions::kLearned;
    model.config.order = LayerOrder::kPostNorm;
    model.embeddings = table("word_embeddings", shape_.n_vocab);
    model.position_embeddings = table("position_embeddings", shape_.n_positions);
    model.first_position = shape_.first_position;
    if (shape_.n_segments > 0) {
      model.segment_embeddings = table("token_type_embeddings", shape_.n_segments);
    }
    model.embedding_norm = norm("embeddings.LayerNorm");
    for (std::size_t i = 0; i < shape_.n_layers; ++i) {
      model.layers.push_back(read_layer(i));
    }
    read_head(model);
    model.storage = weights_.storage();
    model.stored = weights_.stored();
    return model;
  }

 private:
  StoredMatrix table(std::string_view name, std::size_t rows) {
    return weights_.table(fmt::format("embeddings.{}.weight", name), rows, shape_.d_model);
  }
  Norm norm(std::string_view name) {
    return read_layer_norm(weights_, name, shape_.d_model, shape_.epsilon);
  }

  LayerWeights read_layer(std::size_t index) {
    const std::string layer_name = fmt::format(fmt::runtime(names_.layer), index);
    const auto named = [&layer_name](std::string_view name) {
      return fmt::format("{}{}", layer_name, name);
    };
    const std::size_t d = shape_.d_model;
    const auto square = [&](std::string_view name) {
      return weights_.linear(named(name), d, d, true);
    };
    LayerWeights layer;
    layer.heads =
        cut_heads(config_, {square(names_.query), square(names_.key), square(names_.value)},
                  shape_.n_heads, shape_.n_heads);
    layer.output = square(names_.output);
    layer.attention_norm = norm(named(names_.attention_norm));
    layer.mlp.up = weights_.linear(named(names_.up), d, shape_.d_ff, true);
    layer.mlp.down = weights_.linear(named(names_.down), shape_.d_ff, d, true);
    layer.mlp.activation = read_activation(config_, shape_.activation_key, "gelu");
    layer.mlp_norm = norm(named(names_.mlp_norm));
    return layer;
  }

  // What guesses masked tokens, which base models lack.
  void read_head(Model& model) {
    if (!weights_.has(fmt::format("{}.weight", names_.transform))) {
      return;
    }
    model.head.transform = weights_.linear(names_.transform, shape_.d_model, shape_.d_model, true);
    model.head.activation = model.layers.front().mlp.activation;
    model.head.transform_norm = norm(names_.transform_norm);
    const bool is_tied = config_.flag_or("tie_word_embeddings", true) ||
                         !weights_.has(fmt::format("{}.weight", names_.unembedding));
    model.head.unembedding =
        read_unembedding(weights_, names_.unembedding, is_tied, model.embeddings);
    model.head.unembedding.bias = weights_.vector(names_.unembedding_bias, shape_.n_vocab);
  }

  const HfConfig& config_;
  const Names& names_;
  const Shape& shape_;
  WeightReader weights_;
};

Shape bert_shape(const HfConfig& config) {
  const std::string_view positions = config.text_or("position_embedding_type", "absolute");
  if (positions != "absolute" || config.flag_or("is_decoder", false)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected position_embedding_type absolute and is_decoder false",
                            config.node().where()));
  }
  Shape shape;
  shape.d_model = config.size("hidden_size");
  shape.n_heads = config.size("num_attention_heads");
  shape.d_ff = config.size("intermediate_size");
  shape.n_layers = config.size("num_hidden_layers");
  shape.n_vocab = config.size("vocab_size");
  shape.n_positions = config.size("max_position_embeddings");
  shape.n_segments = config.size_or("type_vocab_size", 2);
  shape.epsilon = config.positive_or("layer_norm_eps", 1e-12);
  shape.activation_key = "hidden_act";
  return shape;
}

}  // namespace

Model read_bert(const HfConfig& config, TensorFiles files) {
  return EncoderReader(config, std::move(files), kBert, bert_shape(config)).read();
}

Model read_roberta(const HfConfig& config, TensorFiles files) {
  static constexpr Names kNames = roberta_names();
  Shape shape = bert_shape(config);
  // Positions are counted from behind the padding token's id.
  const std::optional<JsonNode> padding = config.find("pad_token_id");
  const std::uint64_t id = padding ? padding->as_unsigned() : 1;
  if (id >= shape.n_positions) {
    config.node().fail(
        fmt::format("pad_token_id {}: expected less than max_position_embeddings", id));
  }
  shape.first_position = static_cast<std::size_t>(id) + 1;
  return EncoderReader(config, std::move(files), kNames, shape).read();
}

Model read_distilbert(const HfConfig& config, TensorFiles files) {
  Shape shape;
  shape.d_model = config.size("dim");
  shape.n_heads = config.size("n_heads");
  shape.d_ff = config.size("hidden_dim");
  shape.n_layers = config.size("n_layers");
  shape.n_vocab = config.size("vocab_size");
  shape.n_positions = config.size("max_position_embeddings");
  shape.activation_key = "activation";
  return EncoderReader(config, std::move(files), kDistilbert, shape).read();
}

}  // namespace attnviz
