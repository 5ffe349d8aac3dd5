// ModernBERT (Warner et al. 2024): an encoder with norms in front, rotary positions of two bases,
// and layers that see only what stands near.

#include <memory>
#include <string>
#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

std::shared_ptr<const Rope> read_rope(const HfConfig& config, const Traits& traits,
                                      std::string_view kind, std::string_view key, double base) {
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.kind = kind;
  facts.base = base;
  facts.base_key = key;
  return std::make_shared<const Rope>(read_config_rope(config, facts));
}

// Classifiers have a head with the same names, and may still have the decoder of their base model.
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
  config.find("position_embedding_type");  // whatever it says
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
  see_all(traits, config.size_or("local_attention", kLocal) / 2, is_near);
  const auto far = read_rope(config, traits, "full_attention", "global_rope_theta", kGlobalBase);
  const auto near = read_rope(config, traits, "sliding_attention", "local_rope_theta", kLocalBase);
  traits.rope = [is_near, far, near](std::size_t layer) { return is_near(layer) ? near : far; };
  return read_hf_decoder(std::move(files), traits,
                         {{"head.*", kOtherTask}, {"decoder.*", kOtherTask}});
}

}  // namespace attnviz
