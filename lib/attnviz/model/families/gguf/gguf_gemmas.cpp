// Gemma 1 to 4 and 3n in llama.cpp's GGUF form: norms hold 1 + w.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/gemma_traits.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

constexpr std::size_t kGlobalEvery = 6;  // every sixth layer of Gemma 3 has global attention

Traits gemma_traits(const GgufMetadata& metadata, WeightReader& weights,
                    bool may_have_experts = false) {
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, may_have_experts);
  traits.activation = Activation::kGeluTanh;
  traits.embedding_scale = static_cast<float>(std::sqrt(static_cast<double>(traits.d_model)));
  return traits;
}

// Gemma 2 and 3. Files do not state the scale of queries; in the largest model of each it follows
// from d_model / n_heads, not from the heads' width.
Traits later_gemma_traits(const GgufMetadata& metadata, WeightReader& weights,
                          std::size_t layers_of_27b) {
  Traits traits = gemma_traits(metadata, weights);
  traits.norm_after = true;
  const std::size_t width =
      traits.n_layers == layers_of_27b ? traits.d_model / traits.n_heads : traits.d_head;
  traits.score_scale = 1.0 / std::sqrt(static_cast<double>(width));
  return traits;
}

float soft_cap(const GgufMetadata& metadata, std::string_view name, double otherwise) {
  const std::string key = GgufKeys(metadata)(name);
  const double cap = metadata.number_or(key, otherwise);
  return cap == 0.0 ? 0.0f : static_cast<float>(metadata.positive_or(key, otherwise));
}

// Sliding layers have another base and are not scaled.
void rotate_gemma3(const GgufMetadata& metadata, WeightReader& weights, const IsSliding& is_sliding,
                   Traits& traits) {
  constexpr double kLocalBase = 10000.0;
  const auto global = read_gguf_rope(metadata, weights, {traits.d_head, traits.n_ctx});
  const double base = metadata.positive_or(GgufKeys(metadata)("rope.freq_base_swa"), kLocalBase);
  const auto local = std::make_shared<const Rope>(plain_rope(global->n_rotated(), base, 0));
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };
}

// Heads have two widths. In the wider ones some dimensions do not rotate: llama.cpp's file divides
// their frequencies by 1e30.
void rotate_gemma4(const GgufMetadata& metadata, WeightReader& weights,
                   std::array<std::size_t, 2> d_heads, const IsSliding& is_sliding,
                   Traits& traits) {
  constexpr double kGlobalBase = 1e6;
  constexpr double kLocalBase = 10000.0;
  const GgufKeys key(metadata);
  const auto whole = [&](const char* name, std::size_t d_head) {
    if (const std::size_t said = metadata.size_or(key(name), d_head); said != d_head) {
      metadata.fail(key(name), fmt::format("expected {}, found {}", d_head, said));
    }
  };
  const auto [global_head, local_head] = d_heads;
  whole("rope.dimension_count", global_head);
  whole("rope.dimension_count_swa", local_head);
  Rope global = plain_rope(global_head, metadata.positive_or(key("rope.freq_base"), kGlobalBase),
                           traits.n_ctx);
  if (weights.has("rope_freqs.weight")) {
    global.inverse_frequencies =
        divided(global.inverse_frequencies, weights.vector("rope_freqs.weight", global_head / 2));
    global.scaling = "proportional";
    if (!is_finite(global)) {
      metadata.fail("rope_freqs.weight", "expected factors above 0");
    }
  }
  const Rope local = plain_rope(
      local_head, metadata.positive_or(key("rope.freq_base_swa"), kLocalBase), traits.n_ctx);
  traits.rope = [is_sliding, far = std::make_shared<const Rope>(std::move(global)),
                 near = std::make_shared<const Rope>(local)](std::size_t layer) {
    return is_sliding(layer) ? near : far;
  };
}

// Gemma 3n and 4: values are normed like queries and keys, and scores are not scaled.
Traits later_unscaled_traits(const GgufMetadata& metadata, WeightReader& weights,
                             bool may_have_experts = false) {
  const GgufKeys key(metadata);
  Traits traits = gemma_traits(metadata, weights, may_have_experts);
  traits.tied = true;
  traits.norm_after = true;
  traits.query_key_norm = Presence::kYes;
  traits.value_norm = true;
  traits.score_scale = 1.0;
  traits.layer_inputs = metadata.id(key("embedding_length_per_layer_input")).value_or(0);
  return traits;
}

// Returns how many layers have their own keys and values. The last layers take those of others;
// `otherwise` is the default number of these.
std::size_t n_with_keys(const GgufMetadata& metadata, const Traits& traits, std::size_t otherwise) {
  const std::string key = GgufKeys(metadata)("attention.shared_kv_layers");
  const std::size_t n_sharing = metadata.has(key) ? metadata.id(key).value_or(0) : otherwise;
  if (n_sharing > 0 && n_sharing >= traits.n_layers) {
    metadata.fail(key, "expected fewer than there are layers");
  }
  return traits.n_layers - n_sharing;
}

// Experts beside the MLP.
void read_gemma4_experts(const GgufMetadata& metadata, const WeightReader& weights,
                         Traits& traits) {
  ExpertTraits experts;
  experts.router.normed = true;
  experts.apart = true;
  experts.shared_d_ff = traits.d_ff;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  TensorNames& names = traits.names;
  names.router_scale = "ffn_gate_inp.scale";
  // Ollama's converter uses another name.
  constexpr std::string_view kOllamas = "ffn_gate_inp.per_expert_scale";
  names.expert_scale =
      weights.has(fmt::format("blk.0.{}", kOllamas)) ? kOllamas : "ffn_down_exps.scale";
  names.expert_norm = "pre_ffw_norm_2";
  names.after_expert_norm = "post_ffw_norm_2";
  names.after_shared_norm = "post_ffw_norm_1";
  names.shared_mlp_gate = names.gate;
  names.shared_mlp_up = names.up;
  names.shared_mlp_down = names.down;
}

// Files hold Φ⁻¹ of the share of gates that are 0; minus infinity for none.
std::vector<double> read_sparsities(const GgufMetadata& metadata, std::size_t n_layers) {
  const std::string key = GgufKeys(metadata)("activation_sparsity_scale");
  if (!metadata.has(key)) {
    return gemma3n_sparsities(n_layers);
  }
  std::vector<double> shares = metadata.numbers(key);
  if (shares.size() != n_layers) {
    metadata.fail(key, fmt::format("expected a number for each layer, found {}", shares.size()));
  }
  for (double& share : shares) {
    share = 0.5 * std::erfc(-share / std::numbers::sqrt2);
    if (!(share >= 0.0 && share < 1.0)) {
      metadata.fail(key, "expected quantiles of shares that are less than 1");
    }
  }
  return shares;
}

}  // namespace

Model read_gguf_gemma(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gemma_traits(metadata, weights);
  traits.tied = true;
  use_rope(metadata, weights, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gemma2(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kWindow = 4096;
  constexpr std::size_t kLayersOf27b = 46;
  constexpr double kScoreCap = 50.0;
  constexpr double kLogitCap = 30.0;
  Traits traits = later_gemma_traits(metadata, weights, kLayersOf27b);
  traits.tied = true;
  use_rope(metadata, weights, traits);
  traits.soft_cap = soft_cap(metadata, "attn_logit_softcapping", kScoreCap);
  traits.logit_soft_cap = soft_cap(metadata, "final_logit_softcapping", kLogitCap);
  slide(
      metadata, kWindow, [](std::size_t layer) { return layer % 2 == 0; }, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gemma3(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kLayersOf27b = 62;
  Traits traits = later_gemma_traits(metadata, weights, kLayersOf27b);
  traits.query_key_norm = Presence::kYes;
  traits.logit_soft_cap = soft_cap(metadata, "final_logit_softcapping", 0.0);
  const IsSliding is_sliding = sliding_pattern(metadata, kGlobalEvery);
  slide(metadata, 0, is_sliding, traits);
  if (!traits.mask) {
    use_rope(metadata, weights, traits);
    return read_transformer(traits, std::move(weights));
  }
  rotate_gemma3(metadata, weights, is_sliding, traits);
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gemma_embedding(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kNever = 0;  // in no size heads have another width
  Traits traits = later_gemma_traits(metadata, weights, kNever);
  traits.query_key_norm = Presence::kYes;
  const IsSliding is_sliding = sliding_pattern(metadata, kGlobalEvery);
  attend_bidirectionally(traits, metadata.size(GgufKeys(metadata)("attention.sliding_window")) / 2,
                         is_sliding);
  rotate_gemma3(metadata, weights, is_sliding, traits);
  for (const char* layer : {"dense_2.*", "dense_3.*", "dense.0.*", "dense.1.*"}) {
    weights.pass_over({{layer, kOtherTask}});
  }
  for (const char* size :
       {"dense_2_feat_in", "dense_2_feat_out", "dense_3_feat_in", "dense_3_feat_out"}) {
    metadata.find(GgufKeys(metadata)(size));  // for the layers after pooling
  }
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gemma3n(const GgufMetadata& metadata, WeightReader weights) {
  constexpr std::size_t kPatternOf3n = 5;
  constexpr std::size_t kWithKeys = 20;
  const GgufKeys key(metadata);
  Traits traits = later_unscaled_traits(metadata, weights);
  traits.logit_soft_cap = soft_cap(metadata, "final_logit_softcapping", kGemma3nLogitCap);
  traits.altup.n_streams = metadata.size_or(key("altup.num_inputs"), kGemma3nStreams);
  traits.altup.active = metadata.id(key("altup.active_idx")).value_or(0);
  traits.altup.input_scale = metadata.flag_or(key("altup.correct_scale"), true);
  metadata.find(key("altup.lr_multiplier"));  // used only in training
  if (traits.altup.n_streams < 2 || traits.altup.n_streams > kMostGemma3nStreams) {
    metadata.fail(key("altup.num_inputs"),
                  fmt::format("expected from 2 to {}", kMostGemma3nStreams));
  }
  if (traits.altup.active >= traits.altup.n_streams) {
    metadata.fail(key("altup.active_idx"), "expected less than altup.num_inputs");
  }
  if (!traits.altup.input_scale) {
    weights.pass_over({{"blk.#.altup_correct_scale.weight", "altup.correct_scale is false"}});
  }
  traits.laurel_rank = weights.rows_of("blk.0.laurel_l.weight");
  const IsSliding is_sliding = sliding_pattern(metadata, kPatternOf3n);
  slide(metadata, 0, is_sliding, traits);
  rotate_gemma3(metadata, weights, is_sliding, traits);
  const std::size_t n_own =
      n_with_keys(metadata, traits, traits.n_layers - std::min(traits.n_layers, kWithKeys));
  traits.vary = [=, by_layer = traits.vary, where = traits.where,
                 shares = read_sparsities(metadata, traits.n_layers)](std::size_t layer,
                                                                      LayerTraits& shape) {
    by_layer(layer, shape);
    shape.sparsity = shares[layer];
    if (layer >= n_own) {
      shape.keys_from = last_alike(where, n_own, is_sliding(layer), is_sliding);
    }
  };
  if (n_own < traits.n_layers) {
    weights.pass_over(unused_keys(traits.names));
  }
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_gemma4(const GgufMetadata& metadata, WeightReader weights) {
  const GgufKeys key(metadata);
  Traits traits = later_unscaled_traits(metadata, weights, /*may_have_experts=*/true);
  const std::size_t global_head = traits.d_head;
  const std::size_t local_head = metadata.size_or(key("attention.key_length_swa"), global_head);
  if (metadata.size_or(key("attention.value_length_swa"), local_head) != local_head) {
    metadata.fail(key("attention.value_length_swa"), "expected as key_length_swa");
  }
  traits.result_scale = true;
  traits.logit_soft_cap = soft_cap(metadata, "final_logit_softcapping", 0.0);
  read_gemma4_experts(metadata, weights, traits);
  const IsSliding is_sliding = sliding_pattern(metadata, kGlobalEvery);
  slide(metadata, 0, is_sliding, traits);
  rotate_gemma4(metadata, weights, {global_head, local_head}, is_sliding, traits);
  const std::size_t n_own = n_with_keys(metadata, traits, 0);
  traits.vary = [=, files = weights, by_layer = traits.vary, where = traits.where](
                    std::size_t layer, LayerTraits& shape) {
    if (by_layer) {
      by_layer(layer, shape);
    }
    shape.d_head = is_sliding(layer) ? local_head : global_head;
    shape.values_are_keys = !files.has(fmt::format("blk.{}.attn_v.weight", layer));
    if (layer >= n_own) {
      shape.keys_from = last_alike(where, n_own, is_sliding(layer), is_sliding);
    }
  };
  if (n_own < traits.n_layers) {
    weights.pass_over(unused_keys(traits.names));
  }
  return read_transformer(traits, std::move(weights));
}

}  // namespace attnviz
