#include "attnviz/model/families/decoder_family.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

constexpr DecoderNames kHfNames = {
    .embeddings = "embed_tokens",
    .norm = "norm",
    .unembedding = "lm_head",
    .layer = "layers.{}.",
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .qkv = "self_attn.qkv_proj",
    .output = "self_attn.o_proj",
    .query_norm = "self_attn.q_norm",
    .key_norm = "self_attn.k_norm",
    .attention_norm = "input_layernorm",
    .after_attention_norm = "post_attention_layernorm",
    // Of families without norms behind attention: in front of the MLP.
    .mlp_norm = "post_attention_layernorm",
    .after_mlp_norm = "post_feedforward_layernorm",
    .gate = "mlp.gate_proj",
    .up = "mlp.up_proj",
    .down = "mlp.down_proj",
    .gate_up = "mlp.gate_up_proj",
};

class DecoderReader {
 public:
  DecoderReader(const DecoderTraits& traits, WeightReader weights)
      : traits_(traits), names_(traits.names), weights_(std::move(weights)) {}

  Model read() {
    const std::string embeddings = fmt::format("{}.weight", names_.embeddings);
    const std::size_t n_vocab =
        traits_.n_vocab != 0 ? traits_.n_vocab : weights_.rows_of(embeddings);
    Model model;
    model.config.d_model = traits_.d_model;
    model.config.n_ctx = traits_.n_ctx;
    model.config.positions = Positions::kRope;
    model.config.order = LayerOrder::kPreNorm;
    model.embeddings = weights_.table(embeddings, n_vocab, traits_.d_model);
    model.embedding_scale = traits_.embedding_scale;
    for (std::size_t i = 0; i < traits_.n_layers; ++i) {
      model.layers.push_back(read_layer(i));
      model.config.n_ctx = std::max(model.config.n_ctx, model.layers.back().rope->n_ctx);
    }
    if (traits_.most_tokens != 0) {
      model.config.n_ctx = std::min(model.config.n_ctx, traits_.most_tokens);
    }

    model.head.norm = norm(names_.norm, traits_.d_model);
    model.head.unembedding =
        read_unembedding(weights_, names_.unembedding, traits_.tied, model.embeddings);
    model.head.soft_cap = traits_.logit_soft_cap;
    model.storage = weights_.storage();
    model.stored = weights_.stored();
    return model;
  }

 private:
  Norm norm(std::string_view name, std::size_t size) {
    return read_rms_norm(weights_, name, size, traits_.epsilon, traits_.norm_offset);
  }

  Norm head_norm(const std::string& name) {
    return weights_.has(fmt::format("{}.weight", name), traits_.query_key_norm)
               ? norm(name, traits_.d_head)
               : Norm();
  }

  HeadMatrices read_heads(const LayerNaming& named) {
    const std::size_t d = traits_.d_model;
    const std::size_t queries = traits_.n_heads * traits_.d_head;
    const std::size_t keys = traits_.n_kv_heads * traits_.d_head;
    const auto linear = [&](std::string_view name, std::size_t d_out) {
      return weights_.linear(named(name), d, d_out, traits_.qkv_bias);
    };
    if (traits_.fused) {
      const Projection all = linear(names_.qkv, queries + 2 * keys);
      return {columns(all, 0, queries), columns(all, queries, keys),
              columns(all, queries + keys, keys)};
    }
    return {linear(names_.query, queries), linear(names_.key, keys), linear(names_.value, keys)};
  }

  Mlp read_mlp(const LayerNaming& named) {
    const std::size_t d = traits_.d_model;
    const std::size_t d_ff = traits_.d_ff;
    const auto linear = [&](std::string_view name, std::size_t d_in, std::size_t d_out) {
      return weights_.linear(named(name), d_in, d_out, traits_.mlp_bias);
    };
    Mlp read;
    if (traits_.fused) {
      const Projection both = linear(names_.gate_up, d, 2 * d_ff);
      read.gate = columns(both, 0, d_ff);
      read.up = columns(both, d_ff, d_ff);
    } else {
      read.gate = linear(names_.gate, d, d_ff);
      read.up = linear(names_.up, d, d_ff);
    }
    read.down = linear(names_.down, d_ff, d);
    read.activation = traits_.activation;
    return read;
  }

  LayerWeights read_layer(std::size_t index) {
    const LayerNaming named(names_.layer, index);
    const std::size_t d = traits_.d_model;
    const auto layer_norm = [&](std::string_view which, std::size_t size) {
      return norm(named(which), size);
    };
    LayerWeights layer;
    layer.heads = cut_heads(traits_.where, read_heads(named), traits_.n_heads, traits_.n_kv_heads);
    layer.output = weights_.linear(named(names_.output), traits_.n_heads * traits_.d_head, d,
                                   traits_.output_bias);
    layer.query_norm = head_norm(named(names_.query_norm));
    layer.key_norm = head_norm(named(names_.key_norm));
    layer.attention_norm = layer_norm(names_.attention_norm, d);
    if (traits_.norm_after) {
      layer.after_attention_norm = layer_norm(names_.after_attention_norm, d);
      layer.after_mlp_norm = layer_norm(names_.after_mlp_norm, d);
    }
    layer.mlp_norm = layer_norm(names_.mlp_norm, d);
    layer.mlp = read_mlp(named);
    layer.score_scale = traits_.score_scale;
    layer.soft_cap = traits_.soft_cap;
    layer.rope = traits_.rope(index);
    if (traits_.mask) {
      layer.mask = traits_.mask(index);
    }
    return layer;
  }

  const DecoderTraits& traits_;
  const DecoderNames& names_;
  WeightReader weights_;
};

}  // namespace

DecoderTraits read_traits(const HfConfig& config, const DecoderDefaults& defaults) {
  const auto size = [&config](std::string_view key, std::size_t otherwise) {
    return otherwise == 0 ? config.size(key) : config.size_or(key, otherwise);
  };
  DecoderTraits traits;
  traits.where = config.node().where();
  traits.names = kHfNames;
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size_if_there("vocab_size").value_or(0);
  traits.d_model = config.size("hidden_size");
  traits.d_ff = config.size("intermediate_size");
  traits.n_ctx = size("max_position_embeddings", defaults.n_ctx);
  traits.n_heads = size("num_attention_heads", defaults.n_heads);
  // Null: as many as heads, whatever the family's default is.
  const bool is_said = config.find_or_null("num_key_value_heads").has_value();
  traits.n_kv_heads =
      config.size_or("num_key_value_heads",
                     is_said || defaults.n_kv_heads == 0 ? traits.n_heads : defaults.n_kv_heads);
  const std::optional<std::size_t> d_head = config.size_if_there("head_dim");
  traits.d_head = d_head                 ? *d_head
                  : defaults.d_head != 0 ? defaults.d_head
                                         : even_share(traits.where, traits.d_model, traits.n_heads);
  if (traits.d_head > kWidestHead) {
    config.node().fail(
        fmt::format("head_dim: expected at most {}, found {}", kWidestHead, traits.d_head));
  }
  traits.epsilon = config.positive_or("rms_norm_eps", defaults.epsilon);
  traits.original_n_ctx = defaults.original_n_ctx;
  traits.tied = config.flag_or("tie_word_embeddings", false);
  return traits;
}

void rotate_all(const HfConfig& config, DecoderTraits& traits) {
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.original_n_ctx = traits.original_n_ctx;
  auto rope = std::make_shared<const Rope>(read_config_rope(config, facts));
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

std::size_t sliding_window(const HfConfig& config, std::size_t otherwise) {
  const bool is_said = config.find_or_null("sliding_window").has_value();
  return config.size_or("sliding_window", is_said ? 0 : otherwise);
}

void require_none_sliding(const HfConfig& config, std::string_view said) {
  const std::optional<std::vector<bool>> listed = sliding_layers(config);
  if (listed && std::ranges::find(*listed, true) != listed->end()) {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}sliding_attention contradicts {}",
                                                     config.at("layer_types").where(), said));
  }
}

void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, DecoderTraits& traits) {
  if (window == 0) {
    require_none_sliding(config, "sliding_window, which is null");
    return;
  }
  const Mask sliding{MaskKind::kWindow, window};
  traits.mask = [listed = sliding_layers(config), sliding, is_sliding](std::size_t layer) {
    const bool slides = listed ? (*listed)[layer] : is_sliding(layer);
    return slides ? std::optional(sliding) : std::nullopt;
  };
}

void slide_everywhere(const HfConfig& config, std::size_t window, DecoderTraits& traits) {
  slide(
      config, window, [](std::size_t /*layer*/) { return true; }, traits);
}

Model read_decoder(const DecoderTraits& traits, WeightReader weights) {
  return DecoderReader(traits, std::move(weights)).read();
}

Model read_hf_decoder(TensorFiles files, const DecoderTraits& traits) {
  WeightReader weights(
      std::move(files),
      {"model.", "language_model.model.", "model.language_model.", "transformer.", ""},
      fmt::format("{}.weight", traits.names.embeddings));
  weights.pass_over(heads_of_other_tasks());
  weights.pass_over({{"rotary_emb.inv_freq", kBuffer},
                     {"rotary_emb_local.inv_freq", kBuffer},
                     {"layers.#.self_attn.rotary_emb.inv_freq", kBuffer},
                     {"layers.#.self_attn.rotary_emb.cos_cached", kBuffer},
                     {"layers.#.self_attn.rotary_emb.sin_cached", kBuffer},
                     {"vision_tower.*", kOtherPart},
                     {"vision_model.*", kOtherPart},
                     {"multi_modal_projector.*", kOtherPart},
                     {"visual.*", kOtherPart},
                     {"audio_tower.*", kOtherPart}});
  if (traits.tied) {
    weights.pass_over({tied_unembedding(traits.names.unembedding)});
  }
  return read_decoder(traits, std::move(weights));
}

}  // namespace attnviz
