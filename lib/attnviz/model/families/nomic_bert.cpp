// Nomic BERT (Nussbaum et al. 2024): BERT with rotary positions and a gated MLP.

#include <fmt/core.h>

#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

// What the family's code could do otherwise.
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
  rotate_all(config, rope, traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
