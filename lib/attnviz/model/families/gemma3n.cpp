// Gemma 3n (Gemma Team 2025): four residual streams (AltUp), a learned part of each layer's own
// residual (LAuReL), embeddings of each token for every layer, MLPs whose gates are mostly 0, and
// last layers that take the keys and values of others.

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/gemma_traits.h"

namespace attnviz {

namespace {

std::span<const float> of_each_layer(const JsonNode& list, std::size_t n_layers) {
  const std::span<const float> numbers = list.as_numbers();
  if (numbers.size() != n_layers) {
    list.fail(
        fmt::format("expected one for each of {} layers, found {}", n_layers, numbers.size()));
  }
  return numbers;
}

std::vector<std::size_t> mlp_widths(const HfConfig& config, std::size_t n_layers) {
  const JsonNode said = config.at("intermediate_size");
  if (said.kind() == JsonKind::kNumber) {
    return std::vector<std::size_t>(n_layers, config.size("intermediate_size"));
  }
  constexpr float kMost = 16777216.0f;  // floats count whole numbers up to here
  std::vector<std::size_t> widths;
  for (const float width : of_each_layer(said, n_layers)) {
    if (!(width >= 1.0f && width <= kMost) || width != std::floor(width)) {
      said.fail(fmt::format("expected whole numbers from 1 to {}, found {}", kMost, width));
    }
    widths.push_back(static_cast<std::size_t>(width));
  }
  return widths;
}

std::vector<double> sparsities(const HfConfig& config, std::size_t n_layers) {
  const auto said = config.find("activation_sparsity_pattern");
  if (!said) {
    return gemma3n_sparsities(n_layers);
  }
  std::vector<double> shares;
  for (const float share : of_each_layer(*said, n_layers)) {
    if (!(share >= 0.0f && share < 1.0f)) {
      said->fail(fmt::format("expected numbers from 0 to less than 1, found {}", share));
    }
    shares.push_back(static_cast<double>(share));
  }
  return shares;
}

AltUpTraits read_altup(const HfConfig& config) {
  AltUpTraits altup;
  altup.n_streams = config.size_or("altup_num_inputs", kGemma3nStreams);
  if (altup.n_streams < 2 || altup.n_streams > kMostGemma3nStreams) {
    config.at("altup_num_inputs")
        .fail(fmt::format("expected from 2 to {}, found {}", kMostGemma3nStreams, altup.n_streams));
  }
  const auto active = config.find("altup_active_idx");
  altup.active = active ? static_cast<std::size_t>(active->as_unsigned()) : 0;
  if (altup.active >= altup.n_streams) {
    active->fail(fmt::format("expected less than altup_num_inputs, {}, found {}", altup.n_streams,
                             altup.active));
  }
  altup.input_scale = config.flag_or("altup_correct_scale", true);
  config.find("altup_coef_clip");  // while a model is trained
  config.find("altup_lr_multiplier");
  return altup;
}

void name_streams(TensorNames& names) {
  names.altup_enter = "altup_projections.{}";
  names.altup_leave = "altup_unembed_projections.{}";
  names.altup_norm = "altup.router_norm";
  names.altup_router = "altup.modality_router";
  names.altup_prediction = "altup.prediction_coefs";
  names.altup_correction = "altup.correction_coefs";
  names.altup_input_scale = "altup.correct_output_scale";
  names.laurel_left = "laurel.linear_left";
  names.laurel_right = "laurel.linear_right";
  names.laurel_norm = "laurel.post_laurel_norm";
}

}  // namespace

Model read_gemma3n(const HfConfig& config, TensorFiles files) {
  constexpr std::size_t kPattern = 5;  // every fifth layer sees everything
  constexpr std::size_t kWindow = 512;
  constexpr std::size_t kLayerInputs = 256;
  constexpr std::size_t kLayerVocabulary = 262144;
  constexpr std::size_t kSharing = 15;
  constexpr std::size_t kRank = 64;
  constexpr double kGlobalBase = 1e6;
  ConfigDefaults defaults{.n_heads = 8, .n_kv_heads = 2, .d_head = 256, .n_ctx = 32768};
  defaults.tied = true;
  defaults.d_ff_by_layer = true;
  Traits traits = unscaled_gemma_traits(config, defaults, kLayerInputs);
  name_streams(traits.names);
  config.find("query_pre_attn_scalar");  // scores are not scaled
  traits.logit_soft_cap = soft_cap(config, "final_logit_softcapping", kGemma3nLogitCap);
  traits.n_layer_vocab = config.size_or("vocab_size_per_layer_input", kLayerVocabulary);
  traits.altup = read_altup(config);
  traits.laurel_rank = config.size_or("laurel_rank", kRank);

  const auto is_sliding = [listed = sliding_layers(config)](std::size_t layer) {
    return listed ? (*listed)[layer] : (layer + 1) % kPattern != 0;
  };
  slide(config, sliding_window(config, kWindow), is_sliding, traits);
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.base = kGlobalBase;
  facts.kind = "full_attention";
  const auto global = std::make_shared<const Rope>(read_config_rope(config, facts));
  const auto local = std::make_shared<const Rope>(read_local_rope(config, facts));
  traits.rope = [is_sliding, global, local](std::size_t layer) {
    return is_sliding(layer) ? local : global;
  };

  const std::size_t n_own = traits.n_layers - n_sharing_layers(config, traits.n_layers, kSharing);
  traits.vary =
      [is_sliding, n_own, where = traits.where, widths = mlp_widths(config, traits.n_layers),
       shares = sparsities(config, traits.n_layers)](std::size_t layer, LayerTraits& shape) {
        shape.d_ff = widths[layer];
        shape.sparsity = shares[layer];
        if (layer >= n_own) {
          shape.keys_from = last_alike(where, n_own, is_sliding(layer), is_sliding);
        }
      };
  std::vector<HarmlessTensor> unused;
  if (n_own < traits.n_layers) {
    unused = unused_keys(traits.names);
  }
  if (!traits.altup.input_scale) {
    unused.push_back({fmt::format("layers.#.{}", traits.names.altup_input_scale),
                      "altup_correct_scale is false"});
  }
  return read_hf_decoder(std::move(files), traits, unused);
}

}  // namespace attnviz
