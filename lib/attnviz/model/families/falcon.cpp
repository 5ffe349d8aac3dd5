// Falcon (Almazrouei et al. 2023): attention and MLP in parallel, and key and value heads that many
// or all queries share. Falcon-H1 (TII 2025): in each layer attention and Mamba-2 read the same
// input and add to the same stream. Multipliers, required by its maximal update parametrisation,
// scale most products.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/readers/part_readers.h"

namespace attnviz {

namespace {

void refuse_if(const HfConfig& config, std::string_view key) {
  if (config.flag_or(key, false)) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected false, found true", config.node().where(), key));
  }
}

// The number of groups of queries with one key and one value each.
std::size_t kv_heads(const HfConfig& config, bool is_new, std::size_t n_heads) {
  const std::size_t said = config.size_or(
      "num_kv_heads", config.size_or("n_head_kv", config.size_or("num_key_value_heads", n_heads)));
  const bool shares_one = config.flag_or("multi_query", true) && !is_new;
  return shares_one ? 1 : said;
}

}  // namespace

Model read_falcon(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kContext = 2048;
  constexpr std::size_t kTimesWider = 4;
  refuse_if(config, "alibi");
  refuse_if(config, "apply_residual_connection_post_layernorm");
  Traits traits;
  traits.where = config.node().where();
  traits.names = {
      .embeddings = "word_embeddings",
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
  traits.n_layers = config.size({"num_hidden_layers", "n_layer"});
  traits.n_vocab = config.size("vocab_size");
  traits.d_model = config.size({"hidden_size", "n_embed"});
  traits.n_heads = config.size({"num_attention_heads", "n_head"});
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.d_ff = config.size_or("ffn_hidden_size", kTimesWider * traits.d_model);
  config.find("ff_factor");  // ffn_hidden_size is its product
  traits.n_ctx = config.size_or("max_position_embeddings", kContext);
  const bool is_new = config.flag_or("new_decoder_architecture", false);
  traits.n_kv_heads = kv_heads(config, is_new, traits.n_heads);
  traits.qkv = QkvStorage::kByGroup;
  set_biases(traits, present_if(config.flag_or("bias", false)));
  norm_layers(traits, Presence::kYes, config.positive_or("layer_norm_epsilon", 1e-5));
  const std::size_t n_norms = config.size_or("num_ln_in_parallel_attn", is_new ? 2 : 1);
  const bool is_parallel = config.flag_or("parallel_attn", true);
  if (is_new || is_parallel) {
    traits.order = LayerOrder::kParallel;
    traits.one_norm = n_norms != 2;
    if (!traits.one_norm) {
      traits.names.attention_norm = "ln_attn";
      traits.names.mlp_norm = "ln_mlp";
    }
  }
  traits.gated = false;
  traits.activation = read_activation(config, "activation", "gelu");
  traits.tied = is_tied(config, true);
  use_rope(config, traits);
  return read_hf_decoder(std::move(files), traits);
}

namespace {

void name_falcon_tensors(TensorNames& names) {
  names.norm = "final_layernorm";
  names.mlp_norm = "pre_ff_layernorm";
  names.gate = "feed_forward.gate_proj";
  names.up = "feed_forward.up_proj";
  names.down = "feed_forward.down_proj";
  names.state_in = "mamba.in_proj";
  names.state_conv = "mamba.conv1d";
  names.state_log_rate = "mamba.A_log";
  names.state_step_bias = "mamba.dt_bias";
  names.state_skip = "mamba.D";
  names.state_norm = "mamba.norm";
  names.state_out = "mamba.out_proj";
}

[[noreturn]] void refuse(const HfConfig& config, std::string_view key, std::string_view expected) {
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}expected {}", config.at(key).where(), expected));
}

// The numbers in a config's list, or all 1.
template <std::size_t kCount>
std::array<float, kCount> multipliers(const HfConfig& config, std::string_view key) {
  std::array<float, kCount> all;
  all.fill(1.0f);
  if (const auto listed = config.find(key)) {
    const std::span<const float> numbers = listed->as_numbers();
    if (numbers.size() != kCount) {
      listed->fail(fmt::format("expected {}, found {}", counted(kCount, "number"), numbers.size()));
    }
    std::ranges::copy(numbers, all.begin());
  }
  return all;
}

void add_falcon_states(const HfConfig& config, Traits& traits) {
  constexpr std::size_t kInner = 1024;
  constexpr std::size_t kHeads = 128;
  constexpr std::size_t kState = 256;
  constexpr std::size_t kTaps = 4;
  constexpr std::size_t kExpand = 2;
  Recurrence& shape = traits.states.shape;
  shape.kind = MixerKind::kMamba2;
  shape.n_heads = config.size_or("mamba_n_heads", kHeads);
  const std::size_t expanded = config.size_or("mamba_expand", kExpand) * traits.d_model;
  const bool is_null = config.find_or_null("mamba_d_ssm") && !config.has("mamba_d_ssm");
  const std::size_t inner = config.size_or("mamba_d_ssm", is_null ? expanded : kInner);
  shape.d_value = even_share(fmt::format("{}mamba_d_ssm: ", traits.where), inner, shape.n_heads);
  if (const auto width = config.find("mamba_d_head");
      width && width->kind() != JsonKind::kString && config.size("mamba_d_head") != shape.d_value) {
    width->fail(fmt::format("expected mamba_d_ssm / mamba_n_heads = {}", shape.d_value));
  }
  shape.d_key = config.size_or("mamba_d_state", kState);
  shape.n_key_heads = shape.n_norm_groups = config.size_or("mamba_n_groups", 1);
  shape.width = config.size_or("mamba_d_conv", kTaps);
  read_step_limit(config, shape);
  traits.states.bias = present_if(config.flag_or("mamba_proj_bias", false));
  traits.states.out_bias = present_if(config.flag_or("projectors_bias", false));
  traits.states.conv_bias = present_if(config.flag_or("mamba_conv_bias", true));
  traits.states.norm = present_if(config.flag_or("mamba_rms_norm", false));
  shape.gates_last = config.flag_or("mamba_norm_before_gate", true);
  if (!config.flag_or("mamba_use_mlp", true)) {
    refuse(config, "mamba_use_mlp", "true: transformers has no other form");
  }
  if (config.has("attn_layer_indices")) {
    refuse(config, "attn_layer_indices", "null: attention is in all layers");
  }
  for (const char* key :
       {"mamba_chunk_size", "time_step_min", "time_step_max", "time_step_floor"}) {
    config.find(key);  // for training, and for how it is computed
  }
}

// Distributes a config's multipliers over the scales that a Model has.
class Multipliers {
 public:
  explicit Multipliers(const HfConfig& config)
      : attention_in_(one(config, "attention_in_multiplier")),
        attention_out_(one(config, "attention_out_multiplier")),
        key_(one(config, "key_multiplier")),
        state_in_(one(config, "ssm_in_multiplier")),
        state_out_(one(config, "ssm_out_multiplier")),
        of_columns_(multipliers<5>(config, "ssm_multipliers")),
        of_mlp_(multipliers<2>(config, "mlp_multipliers")) {}

  void apply(Model& model) {
    kept_->before = model.storage;
    for (LayerWeights& layer : model.layers) {
      scale_attention(layer);
      scale_states(layer.recurrence, layer.branch_scale);
      layer.mlp.gate_scale = of_mlp_[0];
      layer.mlp.hidden_scale = of_mlp_[1] / layer.branch_scale;
      layer.mlp.down.bias = scaled(layer.mlp.down.bias, layer.mlp.hidden_scale);
    }
    model.storage = std::move(kept_);
  }

 private:
  struct Kept {
    std::shared_ptr<const void> before;
    std::vector<MatrixBuffer> biases;
  };

  static float one(const HfConfig& config, std::string_view key) {
    return static_cast<float>(config.positive_or(key, 1.0));
  }

  // Scales each bias once, because heads share biases.
  std::span<const float> scaled(std::span<const float> bias, float factor) {
    if (bias.empty() || factor == 1.0f) {
      return bias;
    }
    const auto [known, is_new] = done_.try_emplace(bias.data());
    if (is_new) {
      MatrixBuffer& copy = kept_->biases.emplace_back(1, bias.size());
      std::ranges::transform(bias, copy.view().row_data(0),
                             [factor](float b) { return factor * b; });
      known->second = copy.view().row(0);
    }
    return known->second;
  }

  // Attention reads a x̂: q, k and v are a (x̂ W + b / a).
  void scale_attention(LayerWeights& layer) {
    const double usual = 1.0 / std::sqrt(static_cast<double>(layer.heads.front().d_head()));
    const auto a = static_cast<double>(attention_in_);
    layer.score_scale = usual * a * a * static_cast<double>(key_);
    layer.branch_scale = attention_in_ * attention_out_;
    for (HeadWeights& head : layer.heads) {
      for (Projection* const one : {&head.query, &head.key, &head.value}) {
        one->bias = scaled(one->bias, 1.0f / attention_in_);
      }
    }
    layer.output.bias = scaled(layer.output.bias, 1.0f / attention_in_);
  }

  // Columns are z, v, k, q and δ. branch_scale applies to states, too; out_scale compensates for
  // it.
  void scale_states(Recurrence& states, float branch_scale) {
    Projection all = states.in.front().projection;
    all.bias = scaled(all.bias, 1.0f / state_in_);
    const std::size_t keys = states.n_key_heads * states.d_key;
    states.in.clear();
    std::size_t first = 0;
    for (std::size_t part = 0; part < of_columns_.size(); ++part) {
      const std::size_t count = part < 2 ? states.d_inner() : part < 4 ? keys : states.n_heads;
      states.in.push_back({columns(all, first, count), first, state_in_ * of_columns_[part]});
      first += count;
    }
    states.out_scale = state_out_ / branch_scale;
  }

  float attention_in_, attention_out_, key_, state_in_, state_out_;
  std::array<float, 5> of_columns_;
  std::array<float, 2> of_mlp_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  std::map<const float*, std::span<const float>> done_;
};

}  // namespace

Model read_falcon_h1(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults{.n_heads = 32, .n_kv_heads = 8, .n_ctx = 8192, .epsilon = 1e-5};
  defaults.d_ff = 14336;
  Traits traits = read_traits(config, defaults);
  name_falcon_tensors(traits.names);
  if (const std::string_view act = config.text_or("hidden_act", "silu"); act != "silu") {
    refuse(config, "hidden_act", "silu");
  }
  traits.qkv_bias = traits.output_bias = present_if(config.flag_or("attention_bias", false));
  traits.mlp_bias = present_if(config.flag_or("mlp_bias", false));
  for (const char* key : {"layers_block_type", "layer_types"}) {
    listed_layers(config, key, traits.n_layers, {"hybrid"});
  }
  if (!config.has("rope_theta")) {
    require_rope_parameters(config);  // versions of transformers differ in the default
  }
  use_rope(config, traits);
  traits.embedding_scale = static_cast<float>(config.positive_or("embedding_multiplier", 1.0));
  traits.logit_scale = static_cast<float>(config.positive_or("lm_head_multiplier", 1.0));
  add_falcon_states(config, traits);
  traits.vary = [](std::size_t /*layer*/, LayerTraits& shape) { shape.has_both = true; };
  Multipliers multipliers(config);
  Model model = read_hf_decoder(std::move(files), traits, {{"layers.#.mamba.mup_vector", kBuffer}});
  multipliers.apply(model);
  return model;
}

}  // namespace attnviz
