// BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019) and DistilBERT (Sanh et al. 2019).
// ModernBERT (Warner et al. 2024): an encoder with norms before attention and MLP, rotary positions
// of two bases, and local attention in most layers. Nomic BERT (Nussbaum et al. 2024): BERT with
// rotary positions and a gated MLP.
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"

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
                            config.node().where(), in_quotes(positions)));
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
  // RobertaLMHead has only this one, regardless of the config.
  traits.head_activation = Activation::kGelu;
  // Position rows start after the padding token's id. Row `id` belongs to padding, which does not
  // count as a position.
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

namespace {

std::shared_ptr<const Rope> read_rope(const HfConfig& config, const Traits& traits,
                                      std::string_view kind, std::string_view key, double base) {
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.kind = kind;
  facts.base = base;
  facts.base_key = key;
  return std::make_shared<const Rope>(read_config_rope(config, facts));
}

// Classifiers have a head with the same names, and may still contain the decoder of their base
// model.
bool guesses_tokens(const TensorFiles& files, Presence decoder_bias) {
  const auto has = [&files](const std::string& name) {
    return files.find(name) || files.find("model." + name);
  };
  return !has("classifier.weight") &&
         (decoder_bias == Presence::kNo || has("decoder.bias") || has("decoder.weight"));
}

}  // namespace

Model read_modernbert(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 8192;
  constexpr std::size_t kEvery = 3;
  constexpr std::size_t kLocal = 128;
  constexpr double kGlobalBase = 160000.0;
  constexpr double kLocalBase = 10000.0;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embeddings.tok_embeddings",
      .embedding_norm = "embeddings.norm",
      .norm = "final_norm",
      .unembedding = "decoder",
      .layer = "layers.{}.",
      .qkv = "attn.Wqkv",
      .output = "attn.Wo",
      .attention_norm = "attn_norm",
      .mlp_norm = "mlp_norm",
      .down = "mlp.Wo",
      .gate_up = "mlp.Wi",
      .transform = "head.dense",
      .transform_norm = "head.norm",
      .unembedding_bias = "decoder.bias",
  };
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size("hidden_size");
  traits.n_heads = traits.n_kv_heads = config.size("num_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size("intermediate_size");
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  config.find("position_embedding_type");  // ignored
  require_same(config.find("layer_norm_eps"), config.find("norm_eps"));
  norm_layers(traits, present_if(config.flag_or("norm_bias", false)),
              config.positive_or("norm_eps", 1e-5));
  traits.embedding_norm = true;
  traits.first_norm = false;
  traits.qkv = QkvStorage::kStacked;
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  traits.gate_with_up = true;
  traits.activation = read_activation(config, "hidden_activation", "gelu");
  traits.head_activation = read_activation(config, "classifier_activation", "gelu");
  traits.transform_bias = present_if(config.flag_or("classifier_bias", false));
  traits.unembedding_bias = present_if(config.flag_or("decoder_bias", true));
  traits.tied = is_tied(config, true);
  if (!guesses_tokens(files, traits.unembedding_bias)) {
    traits.names.transform = {};
  }

  const std::size_t every = config.size_or("global_attn_every_n_layers", kEvery);
  const auto is_near = [listed = sliding_layers(config), every](std::size_t layer) {
    return listed ? (*listed)[layer] : layer % every != 0;
  };
  attend_bidirectionally(traits, config.size_or("local_attention", kLocal) / 2, is_near);
  const auto far = read_rope(config, traits, "full_attention", "global_rope_theta", kGlobalBase);
  const auto near = read_rope(config, traits, "sliding_attention", "local_rope_theta", kLocalBase);
  traits.rope = [is_near, far, near](std::size_t layer) { return is_near(layer) ? near : far; };
  return read_hf_decoder(std::move(files), traits,
                         {{"head.*", kOtherTask}, {"decoder.*", kOtherTask}});
}

namespace {

// Refuses options of the family's code that change the computation.
void require_usual(const HfConfig& config) {
  for (const char* key :
       {"prenorm", "use_rms_norm", "parallel_block", "parallel_block_tied_norm", "causal",
        "scale_attn_by_inverse_layer_idx", "rotary_scaling_factor", "rotary_emb_scale_base"}) {
    const auto found = config.find(key);
    if (found && !(found->kind() == JsonKind::kBool && !found->as_bool())) {
      throw Error(ErrorKind::kUnsupported, fmt::format("{}expected false or null, found {}",
                                                       found->where(), value_text(*found)));
    }
  }
}

void read_mlp(const HfConfig& config, Traits& traits) {
  const std::string_view name = config.text_or("activation_function", "gelu");
  traits.gated = name == "swiglu" || name == "geglu";
  if (traits.gated) {
    traits.activation = name == "swiglu" ? Activation::kSilu : Activation::kGelu;
    traits.names.up = "mlp.fc11";
    traits.names.gate = "mlp.fc12";
  } else {
    traits.activation = read_activation(config, "activation_function", "gelu");
  }
  const bool has_bias = config.flag_or("mlp_fc1_bias", true);
  if (config.flag_or("mlp_fc2_bias", true) != has_bias) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}mlp_fc2_bias: expected {} as mlp_fc1_bias", traits.where, has_bias));
  }
  traits.mlp_bias = present_if(has_bias);
}

}  // namespace

Model read_nomic_bert(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kTimesWider = 4;
  require_usual(config);
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embeddings.word_embeddings",
      .segments = "embeddings.token_type_embeddings",
      .embedding_norm = "emb_ln",
      .unembedding = "cls.predictions.decoder",
      .layer = "encoder.layers.{}.",
      .qkv = "attn.Wqkv",
      .output = "attn.out_proj",
      .attention_norm = "norm1",
      .mlp_norm = "norm2",
      .up = "mlp.fc1",
      .down = "mlp.fc2",
      .transform = "cls.predictions.transform.dense",
      .transform_norm = "cls.predictions.transform.layer_norm",
      .unembedding_bias = "cls.predictions.bias",
  };
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.d_model = config.size({"n_embd", "hidden_size"});
  traits.n_heads = config.size({"n_head", "num_attention_heads"});
  traits.d_ff = config.size_or("n_inner", kTimesWider * traits.d_model);
  traits.n_segments = config.size_or("type_vocab_size", 2);
  set_encoder(traits, config.size({"n_positions", "max_position_embeddings"}),
              config.positive_or("layer_norm_epsilon", 1e-12));
  traits.qkv = QkvStorage::kStacked;
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("qkv_proj_bias", true));
  read_mlp(config, traits);
  traits.score_scale = config.flag_or("scale_attn_weights", true) ? 0.0 : 1.0;
  traits.tied = is_tied(config, true);
  traits.positions = Positions::kRope;
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.old_base_key = "rotary_emb_base";
  rope.old_share_key = "rotary_emb_fraction";
  rope.pairing = config.flag_or("rotary_emb_interleaved", false) ? RopePairing::kNeighbours
                                                                 : RopePairing::kHalves;
  use_rope(config, rope, traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
