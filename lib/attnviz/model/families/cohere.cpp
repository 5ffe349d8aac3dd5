// Command R (Cohere 2024): layer norms without biases, attention and MLP in parallel from one of
// them, scaled logits. Command R7B (Cohere 2 2024): windows with rotary positions, and every fourth
// layer without both.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

Traits cohere_traits(const HfConfig& config) {
  constexpr double kEpsilon = 1e-5;
  constexpr double kLogitScale = 0.0625;
  ConfigDefaults defaults;
  defaults.n_ctx = 8192;
  defaults.tied = true;
  Traits traits = read_traits(config, defaults);
  traits.n_ctx = std::max(traits.n_ctx, config.size_or("model_max_length", traits.n_ctx));
  norm_layers(traits, Presence::kNo, config.positive_or("layer_norm_eps", kEpsilon));
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.activation = read_activation(config, "hidden_act", "silu");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.logit_scale = static_cast<float>(config.positive_or("logit_scale", kLogitScale));
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.pairing = RopePairing::kNeighbours;
  rope.old_share_key = "rotary_pct";
  rotate_all(config, rope, traits);
  return traits;
}

}  // namespace

Model read_cohere(const HfConfig& config, TensorFiles files) {
  Traits traits = cohere_traits(config);
  traits.query_key_norm = present_if(config.flag_or("use_qk_norm", false));
  traits.head_norms = HeadNorms::kOfEach;
  return read_hf_decoder(std::move(files), traits);
}

Model read_cohere2(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kPattern = 4;
  Traits traits = cohere_traits(config);
  for (const char* key : {"use_gated_activation", "use_parallel_block"}) {
    require(config, key, "true");
  }
  require(config, "position_embedding_type", "\"rope_gptj\"");
  require(config, "order_of_interleaved_layers", "\"local_attn_first\"");
  require_same(config.find("use_embedding_sharing"), config.find("tie_word_embeddings"));
  require_same(config.find("layer_switch"), config.find("sliding_window_pattern"));
  require_same(config.find("_sliding_window_pattern"), config.find("sliding_window_pattern"));
  config.find("use_parallel_embedding");  // of training
  const std::size_t pattern = config.size_or(
      "sliding_window_pattern",
      config.size_or("_sliding_window_pattern", config.size_or("layer_switch", kPattern)));
  const auto is_sliding = [listed = sliding_layers(config), pattern](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % pattern != 0;
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  keep_unrotated([is_sliding](std::size_t layer) { return !is_sliding(layer); }, traits);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
