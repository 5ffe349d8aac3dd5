// LFM2 (Liquid AI 2025): layers of gated convolutions between those of attention.

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

// The width that a config means: two thirds of what it says, in multiples of a number.
std::size_t feed_forward_width(const HfConfig& config) {
  constexpr std::size_t kMultiple = 256;
  const std::size_t said = config.size({"block_ff_dim", "intermediate_size"});
  const std::size_t multiple = config.size_or("block_multiple_of", kMultiple);
  const bool is_scaled =
      config.has("block_ffn_dim_multiplier") || !config.find_or_null("block_ffn_dim_multiplier");
  const double factor = config.positive_or("block_ffn_dim_multiplier", 1.0);
  if (!config.flag_or("block_auto_adjust_ff_dim", true)) {
    return said;
  }
  const std::size_t two_thirds = 2 * said / 3;  // in whole numbers, as the library has it
  if (!is_scaled) {
    return two_thirds;
  }
  const auto scaled = static_cast<std::size_t>(factor * static_cast<double>(two_thirds));
  return (scaled + multiple - 1) / multiple * multiple;
}

// Whether a layer has a convolution, as "layer_types" or "full_attn_idxs" say.
std::function<bool(std::size_t layer)> convolutions(const HfConfig& config, std::size_t n_layers) {
  const auto attention = config.find("full_attn_idxs");  // may say the same once more
  const auto types = config.find("layer_types");
  if (!types && !attention) {
    return [](std::size_t /*layer*/) { return false; };
  }
  if (!types) {
    const std::span<const float> listed = attention->as_numbers();
    return [listed = std::vector<float>(listed.begin(), listed.end())](std::size_t layer) {
      return std::ranges::find(listed, static_cast<float>(layer)) == listed.end();
    };
  }
  std::vector<bool> found;
  for (const JsonNode& node : types->as_list("a list of layer types")) {
    const std::string_view name = node.as_string();
    if (name != "conv" && name != "full_attention") {
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("{}expected conv or full_attention, found {}", node.where(), quoted(name)));
    }
    found.push_back(name == "conv");
  }
  if (found.size() != n_layers) {
    types->fail(fmt::format("expected a type for each layer, found {}", found.size()));
  }
  return [found = std::move(found)](std::size_t layer) { return found[layer]; };
}

}  // namespace

Model read_lfm2(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 128000;
  constexpr std::size_t kWidth = 3;
  constexpr std::size_t kKeyHeads = 8;
  constexpr double kBase = 1e6;
  for (const char* key : {"block_use_swiglu", "use_pos_enc"}) {
    if (!config.flag_or(key, true)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}{}: expected true, found false", config.node().where(), key));
    }
  }
  for (const char* key : {"block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
                          "conv_use_xavier_init"}) {
    config.find(key);  // of training
  }
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embed_tokens",
      .norm = "embedding_norm",
      .unembedding = "lm_head",
      .layer = "layers.{}.",
      .query = "self_attn.q_proj",
      .key = "self_attn.k_proj",
      .value = "self_attn.v_proj",
      .output = "self_attn.out_proj",
      .query_norm = "self_attn.q_layernorm",
      .key_norm = "self_attn.k_layernorm",
      .attention_norm = "operator_norm",
      .mlp_norm = "ffn_norm",
      .conv_in = "conv.in_proj",
      .conv = "conv.conv",
      .conv_out = "conv.out_proj",
      .gate = "feed_forward.w1",
      .up = "feed_forward.w3",
      .down = "feed_forward.w2",
  };
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"hidden_size", "block_dim", "conv_dim", "conv_dim_out"});
  traits.n_heads = config.size({"num_attention_heads", "num_heads"});
  traits.n_kv_heads = config.size_or("num_key_value_heads", kKeyHeads);
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = feed_forward_width(config);
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  require_same(config.find("block_norm_eps"), config.find("norm_eps"));
  traits.epsilon = config.positive_or("norm_eps", 1e-5);
  traits.query_key_norm = Presence::kYes;
  traits.convolution_bias = present_if(config.flag_or("conv_bias", false));
  require_same(config.find("tie_embedding"), config.find("tie_word_embeddings"));
  traits.tied = is_tied(config, config.flag_or("tie_embedding", true));
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = kBase;
  rope.old_base_key = "theta";
  rotate_all(config, rope, traits);
  traits.vary = [is_conv = convolutions(config, traits.n_layers),
                 width = config.size_or("conv_L_cache", kWidth)](std::size_t layer,
                                                                 LayerTraits& shape) {
    shape.convolution = is_conv(layer) ? width : 0;
  };
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
