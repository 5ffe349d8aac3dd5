// T5 as llama.cpp's converter writes it, UMT5 among it.

#include <cmath>
#include <cstddef>
#include <utility>

#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/families/gguf/gguf_traits.h"
#include "attnviz/model/families/readers/encoder_decoder_reader.h"

namespace attnviz {

namespace {

Traits encoder_traits(const GgufMetadata& metadata, WeightReader& weights) {
  constexpr std::size_t kMostDistance = 128;  // files have no key for it
  const GgufKeys key(metadata);
  Traits traits = gguf_traits(metadata, weights);
  traits.n_ctx = 0;  // of training: relative positions know no end
  TensorNames& names = traits.names;
  names.norm = "enc.output_norm";
  names.layer = "enc.blk.{}.";
  names.output = "attn_o";
  names.distance_bias = "attn_rel_b";
  traits.positions = Positions::kRelative;
  traits.distance_buckets = {
      metadata.size(key("attention.relative_buckets_count")), kMostDistance,
      weights.has("enc.blk.1.attn_rel_b.weight") || weights.has("dec.blk.1.attn_rel_b.weight")};
  check_buckets(traits.where, traits.distance_buckets);
  traits.score_scale = 1.0;
  traits.sees_all = true;
  traits.gated = weights.has("enc.blk.0.ffn_gate.weight");
  traits.activation = traits.gated ? Activation::kGeluTanh : Activation::kRelu;
  traits.qkv_bias = Presence::kNo;
  return traits;
}

Traits decoder_traits(const GgufMetadata& metadata, const Traits& encoder) {
  Traits traits = encoder;
  TensorNames& names = traits.names;
  names.norm = "dec.output_norm";
  names.layer = "dec.blk.{}.";
  names.cross_query = "cross_attn_q";
  names.cross_key = "cross_attn_k";
  names.cross_value = "cross_attn_v";
  names.cross_output = "cross_attn_o";
  names.cross_norm = "cross_attn_norm";
  traits.n_layers = metadata.size_or(GgufKeys(metadata)("decoder_block_count"), encoder.n_layers);
  traits.vary = {};  // what a file lists by layer is the encoder's
  traits.sees_all = false;
  traits.has_cross = true;
  if (traits.tied) {  // llama.cpp leaves it out
    traits.logit_scale = 1.0f / std::sqrt(static_cast<float>(traits.d_model));
  }
  return traits;
}

}  // namespace

Model read_gguf_t5(const GgufMetadata& metadata, WeightReader weights) {
  const Traits encoder = encoder_traits(metadata, weights);
  const Traits decoder = decoder_traits(metadata, encoder);
  weights.pass_over({{"dec.blk.#.cross_attn_rel_b.weight", "cross-attention has no positions"}});
  Model model = read_encoder_decoder(encoder, decoder, std::move(weights));
  model.config.first_token = metadata.id(GgufKeys(metadata)("decoder_start_token_id")).value_or(0);
  return model;
}

}  // namespace attnviz
