// BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019) and DistilBERT (Sanh et al. 2019).

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

constexpr TensorNames kBert = {
    .embeddings = "embeddings.word_embeddings",
    .positions = "embeddings.position_embeddings",
    .segments = "embeddings.token_type_embeddings",
    .embedding_norm = "embeddings.LayerNorm",
    .unembedding = "cls.predictions.decoder",
    .layer = "encoder.layer.{}.",
    .query = "attention.self.query",
    .key = "attention.self.key",
    .value = "attention.self.value",
    .output = "attention.output.dense",
    .attention_norm = "attention.output.LayerNorm",
    .mlp_norm = "output.LayerNorm",
    .up = "intermediate.dense",
    .down = "output.dense",
    .transform = "cls.predictions.transform.dense",
    .transform_norm = "cls.predictions.transform.LayerNorm",
    .unembedding_bias = "cls.predictions.bias",
};

constexpr TensorNames roberta_names() {
  TensorNames names = kBert;
  names.transform = "lm_head.dense";
  names.transform_norm = "lm_head.layer_norm";
  names.unembedding = "lm_head.decoder";
  names.unembedding_bias = "lm_head.bias";
  return names;
}

constexpr TensorNames distilbert_names() {
  TensorNames names = kBert;
  names.layer = "transformer.layer.{}.";
  names.query = "attention.q_lin";
  names.key = "attention.k_lin";
  names.value = "attention.v_lin";
  names.output = "attention.out_lin";
  names.attention_norm = "sa_layer_norm";
  names.up = "ffn.lin1";
  names.down = "ffn.lin2";
  names.mlp_norm = "output_layer_norm";
  names.transform = "vocab_transform";
  names.transform_norm = "vocab_layer_norm";
  names.unembedding = "vocab_projector";
  names.unembedding_bias = "vocab_projector.bias";
  return names;
}

Traits bert_traits(const HfConfig& config) {
  const std::string_view positions = config.text_or("position_embedding_type", "absolute");
  if (positions != "absolute") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}position_embedding_type: expected absolute, found {}",
                            config.node().where(), quoted(positions)));
  }
  if (config.flag_or("is_decoder", false)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}is_decoder: expected false, found true", config.node().where()));
  }
  Traits traits;
  traits.where = config.node().where();
  traits.names = kBert;
  traits.d_model = config.size("hidden_size");
  traits.n_heads = config.size("num_attention_heads");
  traits.d_ff = config.size("intermediate_size");
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.n_segments = config.size_or("type_vocab_size", 2);
  set_encoder(traits, config.size("max_position_embeddings"),
              config.positive_or("layer_norm_eps", 1e-12));
  traits.activation = traits.head_activation = read_activation(config, "hidden_act", "gelu");
  traits.tied = config.flag_or("tie_word_embeddings", true);
  return traits;
}

WeightReader open_weights(TensorFiles files, std::string_view prefix) {
  WeightReader weights(std::move(files), {prefix, ""}, "embeddings.word_embeddings.weight");
  weights.pass_over(heads_of_other_tasks());
  weights.pass_over({{"embeddings.position_ids", kBuffer},
                     {"embeddings.token_type_ids", kBuffer},
                     {"pooler.*", kOtherTask},
                     {"pre_classifier.*", kOtherTask},
                     {"cls.seq_relationship.*", kOtherTask},
                     {"linear.weight", kOtherTask}});  // ColBERT's
  return weights;
}

}  // namespace

Model read_bert(const HfConfig& config, TensorFiles files) {
  return read_transformer(bert_traits(config), open_weights(std::move(files), "bert."));
}

Model read_roberta(const HfConfig& config, TensorFiles files) {
  Traits traits = bert_traits(config);
  traits.names = roberta_names();
  // RobertaLMHead has no other, whatever the config says.
  traits.head_activation = Activation::kGelu;
  // Positions are counted from behind the padding token's id, which is that token's own, and only
  // over other tokens.
  const std::optional<JsonNode> padding = config.find("pad_token_id");
  const std::uint64_t id = padding ? padding->as_unsigned() : 1;
  if (id >= traits.n_positions) {
    config.node().fail(
        fmt::format("pad_token_id {}: expected less than max_position_embeddings", id));
  }
  traits.first_position = static_cast<std::size_t>(id) + 1;
  traits.n_ctx = traits.n_positions - traits.first_position;
  traits.no_position = static_cast<std::uint32_t>(id);
  return read_transformer(traits, open_weights(std::move(files), "roberta."));
}

Model read_distilbert(const HfConfig& config, TensorFiles files) {
  Traits traits;
  traits.where = config.node().where();
  traits.names = distilbert_names();
  traits.d_model = config.size("dim");
  traits.n_heads = config.size("n_heads");
  traits.d_ff = config.size("hidden_dim");
  traits.n_layers = config.size("n_layers");
  traits.n_vocab = config.size("vocab_size");
  set_encoder(traits, config.size("max_position_embeddings"), 1e-12);
  traits.activation = traits.head_activation = read_activation(config, "activation", "gelu");
  traits.tied = config.flag_or("tie_word_embeddings", true);
  return read_transformer(traits, open_weights(std::move(files), "distilbert."));
}

}  // namespace attnviz
