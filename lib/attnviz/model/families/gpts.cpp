// GPT-2 (Radford et al. 2019): learned positions, Conv1D weights, a tied head. GPT-J (Wang and
// Komatsuzaki 2021): attention and MLP in parallel from one layer norm; neighbouring dimensions of
// a part of each head rotate. GPT-Neo (Black et al. 2021): GPT-2 with a window in some layers, and
// scores that are not divided by √d_head. GPT-NeoX and Pythia (Black et al. 2022): a head's query,
// key and value side by side, partial rotary positions, attention and MLP in parallel. OPT (Zhang
// et al. 2022): GPT-3's layers with ReLU, learned positions from row 2 on; the 350M model has norms
// after its sums, and narrower embeddings. BLOOM (Le Scao et al. 2022): ALiBi instead of position
// embeddings, a norm after the embeddings.
#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/families.h"

namespace attnviz {

Model read_gpt2(const HfConfig& config, TensorFiles files) {
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "wte",
      .positions = "wpe",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .qkv = "attn.c_attn",
      .output = "attn.c_proj",
      .attention_norm = "ln_1",
      .mlp_norm = "ln_2",
      .up = "mlp.c_fc",
      .down = "mlp.c_proj",
  };
  traits.d_model = config.size({"n_embd", "hidden_size"});
  traits.n_heads = traits.n_kv_heads = config.size({"n_head", "num_attention_heads"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("n_inner", 4 * traits.d_model);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  set_biases(traits, Presence::kYes);
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.n_ctx = config.size({"n_positions", "n_ctx", "max_position_embeddings"});
  use_learned_positions(traits, traits.n_ctx);
  traits.qkv = QkvStorage::kStacked;
  traits.conv1d = true;
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "gelu_new");
  traits.tied = config.flag_or("tie_word_embeddings", true);
  traits.score_scale = config.flag_or("scale_attn_weights", true) ? 0.0 : 1.0;
  traits.scale_by_layer = config.flag_or("scale_attn_by_inverse_layer_idx", false);
  return read_hf_decoder(std::move(files), traits, {{"multiple_choice_head.*", kOtherTask}});
}

Model read_gptj(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kTimesWider = 4;
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kRotated = 64;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "wte",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .query = "attn.q_proj",
      .key = "attn.k_proj",
      .value = "attn.v_proj",
      .output = "attn.out_proj",
      .attention_norm = "ln_1",
      .up = "mlp.fc_in",
      .down = "mlp.fc_out",
  };
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"n_embd", "hidden_size"});
  traits.n_heads = traits.n_kv_heads = config.size({"n_head", "num_attention_heads"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("n_inner", kTimesWider * traits.d_model);
  traits.n_ctx = config.size_or("n_positions", kContext);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  traits.mlp_bias = traits.unembedding_bias = Presence::kYes;
  traits.order = LayerOrder::kParallel;
  traits.one_norm = true;
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "gelu_new");
  config.find("scale_attn_weights");  // GPT-2's; scores are always scaled here
  traits.tied = is_tied(config, false);
  if (const auto said = config.find_or_null("rotary_dim");
      said && said->kind() == JsonKind::kNull) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a whole number, found null", said->where()));
  }
  const std::size_t n_rotated = config.size_or("rotary_dim", kRotated);
  if (n_rotated > traits.d_head || n_rotated % 2 != 0) {
    config.node().fail(fmt::format("rotary_dim: expected an even number up to {}, found {}",
                                   traits.d_head, n_rotated));
  }
  Rope rope = plain_rope(n_rotated, RopeFacts().base, traits.n_ctx);
  rope.pairing = RopePairing::kNeighbours;
  traits.rope = [rope = std::make_shared<const Rope>(std::move(rope))](std::size_t /*layer*/) {
    return rope;
  };
  return read_hf_decoder(std::move(files), traits, {{"h.#.attn.embed_positions", kBuffer}});
}

namespace {

bool is_local(const JsonNode& node) {
  const std::string_view name = node.as_string();
  if (name != "local" && name != "global") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected global or local, found {}", node.where(), in_quotes(name)));
  }
  return name == "local";
}

// Expands names with repeat counts: [[["global", "local"], 12]].
std::vector<bool> expanded(const JsonNode& types, std::size_t n_layers) {
  std::vector<bool> local;
  for (const JsonNode& group : types.as_list("a list of attention types")) {
    const std::vector<JsonNode> parts = group.as_list("names and a number");
    if (parts.size() != 2) {
      group.fail(
          fmt::format("expected names and a number, found {}", counted(parts.size(), "value")));
    }
    const std::vector<JsonNode> names = parts[0].as_list("a list of names");
    for (std::uint64_t i = parts[1].as_unsigned(); i > 0 && local.size() <= n_layers; --i) {
      for (const JsonNode& name : names) {
        local.push_back(is_local(name));
      }
    }
  }
  return local;
}

// Which layers have a window: "attention_layers" names them one by one and takes precedence.
std::vector<bool> local_layers(const HfConfig& config, std::size_t n_layers) {
  const auto types = config.find("attention_types");
  const auto layers = config.find("attention_layers");
  std::vector<bool> local;
  if (layers) {
    for (const JsonNode& name : layers->as_list("a list of attention types")) {
      local.push_back(is_local(name));
    }
  } else if (types) {
    local = expanded(*types, n_layers);
  } else {
    for (std::size_t i = 0; i < n_layers; ++i) {
      local.push_back(i % 2 == 1);
    }
  }
  if (local.size() != n_layers) {
    (layers ? *layers : *types)
        .fail(fmt::format("expected a type for each of {}, found {}{}", counted(n_layers, "layer"),
                          local.size() > n_layers ? "more than " : "",
                          std::min(local.size(), n_layers)));
  }
  if (layers && types && expanded(*types, n_layers) != local) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}contradicts attention_types", layers->where()));
  }
  return local;
}

}  // namespace

Model read_gpt_neo(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kLayers = 24;
  constexpr std::size_t kHeads = 16;
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kWindow = 256;
  constexpr std::size_t kTimesWider = 4;
  const auto size = [&config](std::initializer_list<std::string_view> keys, std::size_t otherwise) {
    return config.has(*keys.begin()) || config.has(*(keys.end() - 1)) ? config.size(keys)
                                                                      : otherwise;
  };
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "wte",
      .positions = "wpe",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .query = "attn.attention.q_proj",
      .key = "attn.attention.k_proj",
      .value = "attn.attention.v_proj",
      .output = "attn.attention.out_proj",
      .attention_norm = "ln_1",
      .mlp_norm = "ln_2",
      .up = "mlp.c_fc",
      .down = "mlp.c_proj",
  };
  traits.n_layers = size({"num_layers", "num_hidden_layers"}, kLayers);
  if (traits.n_layers > kMostLayers) {
    config.node().fail(
        fmt::format("num_layers: expected at most {}, found {}", kMostLayers, traits.n_layers));
  }
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size("hidden_size");
  traits.n_heads = traits.n_kv_heads = size({"num_heads", "num_attention_heads"}, kHeads);
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("intermediate_size", kTimesWider * traits.d_model);
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  use_learned_positions(traits, traits.n_ctx);
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  traits.output_bias = traits.mlp_bias = Presence::kYes;
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "gelu_new");
  traits.score_scale = 1.0;
  traits.tied = is_tied(config, true);
  const Mask window{MaskKind::kWindow, config.size_or("window_size", kWindow)};
  traits.mask = [local = local_layers(config, traits.n_layers), window](std::size_t layer) {
    return local[layer] ? std::optional(window) : std::nullopt;
  };
  return read_hf_decoder(
      std::move(files), traits,
      {{"h.#.attn.attention.bias", kBuffer}, {"h.#.attn.attention.masked_bias", kBuffer}});
}

Model read_gpt_neox(const HfConfig& config, TensorFiles files) {
  constexpr double kRotatedShare = 0.25;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "embed_in",
      .norm = "final_layer_norm",
      .unembedding = "embed_out",
      .layer = "layers.{}.",
      .qkv = "attention.query_key_value",
      .output = "attention.dense",
      .attention_norm = "input_layernorm",
      .mlp_norm = "post_attention_layernorm",
      .up = "mlp.dense_h_to_4h",
      .down = "mlp.dense_4h_to_h",
  };
  traits.d_model = config.size("hidden_size");
  traits.n_heads = traits.n_kv_heads = config.size("num_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size("intermediate_size");
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_eps", 1e-5));
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.n_ctx = config.size("max_position_embeddings");
  traits.activation = read_activation(config, "hidden_act", "gelu");
  traits.gated = false;
  traits.mlp_bias = Presence::kYes;
  traits.order =
      config.flag_or("use_parallel_residual", true) ? LayerOrder::kParallel : LayerOrder::kPreNorm;
  RopeFacts rope{traits.d_head, traits.n_ctx, kRotatedShare};
  rope.old_base_key = "rotary_emb_base";
  rope.old_share_key = "rotary_pct";
  use_rope(config, rope, traits);
  traits.qkv = QkvStorage::kByGroup;
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", true));
  traits.tied = config.flag_or("tie_word_embeddings", false);
  return read_hf_decoder(std::move(files), traits,
                         {{"layers.#.attention.rotary_emb.inv_freq", kBuffer},
                          {"layers.#.attention.rotary_emb.cos_cached", kBuffer},
                          {"layers.#.attention.rotary_emb.sin_cached", kBuffer}});
}

Model read_opt(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kFirstPosition = 2;
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "decoder.embed_tokens",
      .positions = "decoder.embed_positions",
      .embedding_projection = "decoder.project_in",
      .output_projection = "decoder.project_out",
      .norm = "decoder.final_layer_norm",
      .unembedding = "lm_head",
      .layer = "decoder.layers.{}.",
      .query = "self_attn.q_proj",
      .key = "self_attn.k_proj",
      .value = "self_attn.v_proj",
      .output = "self_attn.out_proj",
      .attention_norm = "self_attn_layer_norm",
      .mlp_norm = "final_layer_norm",
      .up = "fc1",
      .down = "fc2",
  };
  if (!config.flag_or("layer_norm_elementwise_affine", true)) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}layer_norm_elementwise_affine: expected true, found false", traits.where));
  }
  traits.n_layers = config.size("num_hidden_layers");
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size("hidden_size");
  traits.n_heads = traits.n_kv_heads = config.size("num_attention_heads");
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size({"ffn_dim", "intermediate_size"});
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  use_learned_positions(traits, traits.n_ctx + kFirstPosition, kFirstPosition);
  const std::size_t d_embed = config.size_or("word_embed_proj_dim", traits.d_model);
  traits.d_embed = d_embed == traits.d_model ? 0 : d_embed;
  const bool norms_first = config.flag_or("do_layer_norm_before", true);
  traits.order = norms_first ? LayerOrder::kPreNorm : LayerOrder::kPostNorm;
  const bool is_removed = config.flag_or("_remove_final_layer_norm", false);
  traits.last_norm = norms_first && !is_removed;
  norm_layers(traits, Presence::kYes, 1e-5);
  set_biases(traits, present_if(config.flag_or("enable_bias", true)));
  traits.gated = false;
  traits.activation = read_activation(config, "activation_function", "relu");
  traits.tied = is_tied(config, true);
  return read_hf_decoder(std::move(files), traits);
}

Model read_bloom(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kTimesWider = 4;
  constexpr std::string_view kOtherSum = "apply_residual_connection_post_layernorm";
  if (config.flag_or(kOtherSum, false)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected false, found true", config.node().where(), kOtherSum));
  }
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "word_embeddings",
      .embedding_norm = "word_embeddings_layernorm",
      .norm = "ln_f",
      .unembedding = "lm_head",
      .layer = "h.{}.",
      .qkv = "self_attention.query_key_value",
      .output = "self_attention.dense",
      .attention_norm = "input_layernorm",
      .mlp_norm = "post_attention_layernorm",
      .up = "mlp.dense_h_to_4h",
      .down = "mlp.dense_4h_to_h",
  };
  traits.n_layers = config.size({"n_layer", "num_hidden_layers"});
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"n_embed", "hidden_size"});
  traits.n_heads = traits.n_kv_heads = config.size({"num_attention_heads", "n_head"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = kTimesWider * traits.d_model;
  if (const std::size_t said = config.size_or("n_inner", traits.d_ff); said != traits.d_ff) {
    config.node().fail(fmt::format("n_inner: expected {}, found {}", traits.d_ff, said));
  }
  traits.n_ctx = config.size_or("seq_length", kContext);
  traits.positions = Positions::kAlibi;
  traits.embedding_norm = true;
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  set_biases(traits, Presence::kYes);
  traits.qkv = QkvStorage::kByGroup;
  traits.gated = false;
  traits.activation = Activation::kGeluTanh;
  traits.tied = is_tied(config, true);
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
