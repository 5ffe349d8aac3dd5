#include "attnviz/model/families/gemma_traits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace attnviz {

Traits unscaled_gemma_traits(const HfConfig& config, const ConfigDefaults& defaults,
                             std::size_t layer_inputs) {
  Traits traits = read_traits(config, defaults);
  traits.names.mlp_norm = "pre_feedforward_layernorm";
  traits.names.layer_embeddings = "embed_tokens_per_layer";
  traits.names.layer_projection = "per_layer_model_projection";
  traits.names.layer_projection_norm = "per_layer_projection_norm";
  traits.names.input_gate = "per_layer_input_gate";
  traits.names.input_projection = "per_layer_projection";
  traits.names.input_norm = "post_per_layer_input_norm";
  traits.activation = read_activation(config, "hidden_activation", "gelu_pytorch_tanh");
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.norm_after = true;
  traits.query_key_norm = Presence::kYes;
  traits.value_norm = true;
  traits.score_scale = 1.0;
  traits.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(traits.d_model)));
  const auto own = config.find("hidden_size_per_layer_input");
  const bool has_none = own && own->as_unsigned() == 0;
  traits.layer_inputs = has_none ? 0 : config.size_or("hidden_size_per_layer_input", layer_inputs);
  return traits;
}

std::size_t n_sharing_layers(const HfConfig& config, std::size_t n_layers, std::size_t otherwise) {
  const auto said = config.find("num_kv_shared_layers");
  const std::size_t n = said ? static_cast<std::size_t>(said->as_unsigned()) : otherwise;
  if (n > 0 && n >= n_layers) {
    const JsonNode& node = said ? *said : config.node();
    node.fail(fmt::format("{}expected fewer than {}, found {}",
                          said ? "" : "num_kv_shared_layers: ", n_layers, n));
  }
  return n;
}

std::vector<double> gemma3n_sparsities(std::size_t n_layers) {
  constexpr std::size_t kSparseLayers = 10;
  constexpr double kSparsity = 0.95;
  std::vector<double> shares(n_layers, 0.0);
  std::fill_n(shares.begin(), n_layers > kSparseLayers ? kSparseLayers : 0, kSparsity);
  return shares;
}

}  // namespace attnviz
