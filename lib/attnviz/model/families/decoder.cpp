#include "attnviz/model/families/decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/rope.h"

namespace attnviz {

namespace {

class DecoderReader {
 public:
  DecoderReader(const HfConfig& config, TensorFiles files, const DecoderTraits& traits)
      : config_(config),
        traits_(traits),
        weights_(std::move(files), {"model.", "language_model.model.", "model.language_model.", ""},
                 "embed_tokens.weight") {}

  Model read() {
    const std::size_t n_layers = config_.size("num_hidden_layers");
    constexpr std::string_view kEmbeddings = "embed_tokens.weight";
    const std::optional<std::size_t> given = config_.size_if_there("vocab_size");
    const std::size_t n_vocab = given ? *given : weights_.rows_of(kEmbeddings);
    Model model;
    model.config.d_model = traits_.d_model;
    model.config.n_ctx = traits_.n_ctx;
    model.config.positions = Positions::kRope;
    model.config.order = LayerOrder::kPreNorm;
    model.embeddings = weights_.table(kEmbeddings, n_vocab, traits_.d_model);
    model.embedding_scale = traits_.embedding_scale;
    for (std::size_t i = 0; i < n_layers; ++i) {
      model.layers.push_back(read_layer(i));
      model.config.n_ctx = std::max(model.config.n_ctx, model.layers.back().rope->n_ctx);
    }

    model.head.norm = norm("norm", traits_.d_model);
    model.head.unembedding = read_unembedding(weights_, "lm_head", traits_.tied, model.embeddings);
    model.head.soft_cap = traits_.logit_soft_cap;
    model.storage = weights_.storage();
    model.stored = weights_.stored();
    return model;
  }

 private:
  Norm norm(std::string_view name, std::size_t size) {
    return read_rms_norm(weights_, name, size, traits_.epsilon, traits_.norm_offset);
  }

  Projection linear(const std::string& name, std::size_t d_in, std::size_t d_out, bool bias) {
    return weights_.linear(name, d_in, d_out, bias);
  }

  HeadMatrices read_heads(const std::string& attention) {
    const std::size_t d = traits_.d_model;
    const std::size_t queries = traits_.n_heads * traits_.d_head;
    const std::size_t keys = traits_.n_kv_heads * traits_.d_head;
    const bool bias = traits_.qkv_bias;
    if (traits_.fused) {
      const Projection all = linear(attention + "qkv_proj", d, queries + 2 * keys, bias);
      return {columns(all, 0, queries), columns(all, queries, keys),
              columns(all, queries + keys, keys)};
    }
    return {linear(attention + "q_proj", d, queries, bias),
            linear(attention + "k_proj", d, keys, bias),
            linear(attention + "v_proj", d, keys, bias)};
  }

  Mlp read_mlp(const std::string& mlp) {
    const std::size_t d = traits_.d_model;
    const std::size_t d_ff = traits_.d_ff;
    const bool bias = traits_.mlp_bias;
    Mlp read;
    if (traits_.fused) {
      const Projection both = linear(mlp + "gate_up_proj", d, 2 * d_ff, bias);
      read.gate = columns(both, 0, d_ff);
      read.up = columns(both, d_ff, d_ff);
    } else {
      read.gate = linear(mlp + "gate_proj", d, d_ff, bias);
      read.up = linear(mlp + "up_proj", d, d_ff, bias);
    }
    read.down = linear(mlp + "down_proj", d_ff, d, bias);
    read.activation = traits_.activation;
    return read;
  }

  LayerWeights read_layer(std::size_t index) {
    const std::string name = fmt::format("layers.{}.", index);
    const std::string attention = name + "self_attn.";
    const std::size_t d = traits_.d_model;
    LayerWeights layer;
    layer.heads = cut_heads(config_, read_heads(attention), traits_.n_heads, traits_.n_kv_heads);
    layer.output =
        linear(attention + "o_proj", traits_.n_heads * traits_.d_head, d, traits_.output_bias);
    if (traits_.query_key_norm) {
      layer.query_norm = norm(attention + "q_norm", traits_.d_head);
      layer.key_norm = norm(attention + "k_norm", traits_.d_head);
    }
    layer.attention_norm = norm(name + "input_layernorm", d);
    if (traits_.norm_after) {
      layer.after_attention_norm = norm(name + "post_attention_layernorm", d);
      layer.mlp_norm = norm(name + "pre_feedforward_layernorm", d);
      layer.after_mlp_norm = norm(name + "post_feedforward_layernorm", d);
    } else {
      layer.mlp_norm = norm(name + "post_attention_layernorm", d);
    }
    layer.mlp = read_mlp(name + "mlp.");
    layer.score_scale = traits_.score_scale;
    layer.soft_cap = traits_.soft_cap;
    layer.rope = traits_.rope(index);
    if (traits_.mask) {
      layer.mask = traits_.mask(index);
    }
    return layer;
  }

  const HfConfig& config_;
  const DecoderTraits& traits_;
  WeightReader weights_;
};

}  // namespace

DecoderTraits read_traits(const HfConfig& config, const DecoderDefaults& defaults) {
  const auto size = [&config](std::string_view key, std::size_t otherwise) {
    return otherwise == 0 ? config.size(key) : config.size_or(key, otherwise);
  };
  DecoderTraits traits;
  traits.d_model = config.size("hidden_size");
  traits.d_ff = config.size("intermediate_size");
  traits.n_ctx = size("max_position_embeddings", defaults.n_ctx);
  traits.n_heads = size("num_attention_heads", defaults.n_heads);
  traits.n_kv_heads = config.size_or(
      "num_key_value_heads", defaults.n_kv_heads == 0 ? traits.n_heads : defaults.n_kv_heads);
  const std::optional<std::size_t> d_head = config.size_if_there("head_dim");
  traits.d_head = d_head                 ? *d_head
                  : defaults.d_head != 0 ? defaults.d_head
                                         : even_share(config, traits.d_model, traits.n_heads);
  constexpr std::size_t kWidestHead = 65536;  // before frequencies are made for it
  if (traits.d_head > kWidestHead) {
    config.node().fail(
        fmt::format("head_dim: expected at most {}, found {}", kWidestHead, traits.d_head));
  }
  traits.epsilon = config.positive_or("rms_norm_eps", 1e-6);
  traits.tied = config.flag_or("tie_word_embeddings", false);
  return traits;
}

void rotate_all(const HfConfig& config, DecoderTraits& traits) {
  auto rope =
      std::make_shared<const Rope>(read_config_rope(config, {traits.d_head, traits.n_ctx, 1.0}));
  traits.rope = [rope = std::move(rope)](std::size_t /*layer*/) { return rope; };
}

std::optional<std::vector<bool>> sliding_layers(const HfConfig& config) {
  const std::optional<JsonNode> types = config.find("layer_types");
  if (!types) {
    return std::nullopt;
  }
  const std::vector<JsonNode> names = types->as_list("a list of layer types");
  if (names.size() != config.size("num_hidden_layers")) {
    types->fail(fmt::format("expected a type for each layer, found {}", names.size()));
  }
  std::vector<bool> sliding;
  sliding.reserve(names.size());
  for (const JsonNode& node : names) {
    const std::string_view name = node.as_string();
    if (name != "sliding_attention" && name != "full_attention") {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected full_attention or sliding_attention, found {}",
                              node.where(), quoted(name)));
    }
    sliding.push_back(name == "sliding_attention");
  }
  return sliding;
}

void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, DecoderTraits& traits) {
  const Mask sliding{MaskKind::kWindow, window};
  traits.mask = [listed = sliding_layers(config), sliding, is_sliding](std::size_t layer) {
    const bool slides = listed ? (*listed)[layer] : is_sliding(layer);
    return slides ? std::optional(sliding) : std::nullopt;
  };
}

void slide_everywhere(const HfConfig& config, std::size_t otherwise, DecoderTraits& traits) {
  const std::size_t window = config.size_if_there("sliding_window").value_or(otherwise);
  if (window != 0) {
    slide(
        config, window, [](std::size_t /*layer*/) { return true; }, traits);
  }
}

Model read_decoder(const HfConfig& config, TensorFiles files, const DecoderTraits& traits) {
  return DecoderReader(config, std::move(files), traits).read();
}

}  // namespace attnviz
