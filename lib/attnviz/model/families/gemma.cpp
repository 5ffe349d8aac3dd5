// Gemma 1 to 3 (Gemma Team 2024, 2024, 2025): scaled embeddings and norms of weight + 1; Gemma 2
// adds soft caps, windows in every other layer and norms behind attention and MLP; Gemma 3 has
// norms of queries and keys in place of the caps, and two rotary bases; EmbeddingGemma (Vera et al.
// 2025) is one that looks both ways.

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

// Configs of models for text and pictures leave out much of what their library assumes.
constexpr ConfigDefaults kGemma = {16, 16, 256, 8192, 1e-6, 0, true};
constexpr ConfigDefaults kGemma2 = {8, 4, 256, 8192, 1e-6, 0, true};
constexpr ConfigDefaults kGemma3 = {8, 4, 256, 131072, 1e-6, 0, true};

// Configs of Gemma 1 say "gelu" in hidden_act and mean the approximation; later ones say both.
Activation gemma_activation(const HfConfig& config) {
  constexpr std::string_view kTanh = "gelu_pytorch_tanh";
  const std::string_view older = config.text_or("hidden_act", kTanh);
  return read_activation(config, "hidden_activation", older == "gelu" ? kTanh : older);
}

Traits gemma_traits(const HfConfig& config, const ConfigDefaults& defaults) {
  Traits traits = read_traits(config, defaults);
  traits.activation = gemma_activation(config);
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.norm_offset = 1.0f;
  traits.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(traits.d_model)));
  return traits;
}

double score_scale(const HfConfig& config) {
  constexpr double kQueryPreAttnScalar = 256.0;
  return 1.0 / std::sqrt(config.positive_or("query_pre_attn_scalar", kQueryPreAttnScalar));
}

Traits gemma2_traits(const HfConfig& config, const ConfigDefaults& defaults) {
  Traits traits = gemma_traits(config, defaults);
  traits.norm_after = true;
  traits.names.mlp_norm = "pre_feedforward_layernorm";
  traits.score_scale = score_scale(config);
  return traits;
}

}  // namespace

Model read_gemma(const HfConfig& config, TensorFiles files) {
  Traits traits = gemma_traits(config, kGemma);
  rotate_all(config, traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_gemma2(const HfConfig& config, TensorFiles files) {
  constexpr double kScoreCap = 50.0;
  constexpr double kLogitCap = 30.0;
  constexpr std::size_t kWindow = 4096;
  Traits traits = gemma2_traits(config, kGemma2);
  rotate_all(config, traits);
  traits.soft_cap = soft_cap(config, "attn_logit_softcapping", kScoreCap);
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", kLogitCap);
  require_same(config.find("sliding_window_size"), config.find("sliding_window"));
  slide(
      config, sliding_window(config, kWindow), [](std::size_t layer) { return layer % 2 == 0; },
      traits);
  return read_hf_decoder(std::move(files), traits);
}

Model read_gemma3(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kPattern = 6;  // every sixth layer sees everything
  Traits traits = gemma2_traits(config, kGemma3);
  traits.query_key_norm = Presence::kYes;
  traits.soft_cap = soft_cap(config, "attn_logit_softcapping", 0.0);
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", 0.0);
  require_same(config.find("_sliding_window_pattern"), config.find("sliding_window_pattern"));
  const std::size_t pattern =
      config.size_or("sliding_window_pattern", config.size_or("_sliding_window_pattern", kPattern));
  const auto is_sliding = [listed = sliding_layers(config), pattern](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % pattern != 0;
  };
  const std::size_t window = sliding_window(config, kWindow);
  if (config.flag_or("use_bidirectional_attention", false)) {  // EmbeddingGemma
    see_all(traits, window / 2, is_sliding);
  } else {
    slide(config, window, is_sliding, traits);
  }

  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.base = 1e6;
  facts.kind = "full_attention";
  const auto global = std::make_shared<const Rope>(read_config_rope(config, facts));
  const auto local = std::make_shared<const Rope>(read_local_rope(config, facts));
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
