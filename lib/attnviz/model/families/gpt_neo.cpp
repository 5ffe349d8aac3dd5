// GPT-Neo (Black et al. 2021): GPT-2 with a window in some layers, and scores that are not divided
// by √d_head.

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

namespace {

bool is_local(const JsonNode& node) {
  const std::string_view name = node.as_string();
  if (name != "local" && name != "global") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected global or local, found {}", node.where(), quoted(name)));
  }
  return name == "local";
}

// Names, and how often they repeat: [[["global", "local"], 12]].
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
  learn_positions(traits, traits.n_ctx);
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

}  // namespace attnviz
