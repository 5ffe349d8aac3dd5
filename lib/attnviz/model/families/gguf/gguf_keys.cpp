#include "attnviz/model/families/gguf/gguf_families.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

namespace {

// Refuses a value that attnviz does not support, or not beside other keys. Precondition: the key is
// present.
[[noreturn]] void refuse(const GgufMetadata& metadata, const std::string& key,
                         std::string_view expected) {
  throw Error(ErrorKind::kUnsupported, fmt::format("{}{} {}: expected {}", gguf_where(metadata),
                                                   key, metadata.find(key)->text(), expected));
}

std::size_t rotated(const GgufMetadata& metadata, const GgufKeys& key, std::size_t d_head) {
  const std::string dimensions = key("rope.dimension_count");
  const std::size_t whole = d_head / 2 * 2;
  const bool is_llama = metadata.text("general.architecture") == "llama";
  std::size_t n_rotated = metadata.size_or(dimensions, whole);
  // `ollama create` writes d_model / n_heads even if heads have another width: whole heads rotate.
  if (is_llama && n_rotated != d_head && whole == d_head &&
      n_rotated == metadata.size(key("embedding_length")) /
                       SizesOfLayers(metadata, key("attention.head_count"), 1).largest()) {
    n_rotated = whole;
  }
  if (n_rotated > std::min(d_head, kWidestHead) || n_rotated % 2 != 0) {
    metadata.fail(dimensions, fmt::format("expected an even number up to {}, found {}",
                                          std::min(d_head, kWidestHead), n_rotated));
  }
  if (is_llama && n_rotated != whole) {  // llama.cpp: "invalid n_rot"
    refuse(metadata, dimensions, fmt::format("{}: a Llama rotates whole heads", whole));
  }
  return n_rotated;
}

std::vector<double> divided_by(const std::vector<double>& frequencies, std::string_view tensor,
                               const GgufMetadata& metadata, WeightReader& weights) {
  const std::span<const float> factors = weights.vector(tensor, frequencies.size());
  if (!std::ranges::all_of(factors, [](float factor) { return factor > 0.0f; })) {
    metadata.fail(tensor, "expected factors above 0");
  }
  return divided(frequencies, factors);
}

// Ding et al. 2024: a factor for each dimension, and other factors for long texts.
void read_longrope(const GgufMetadata& metadata, const GgufKeys& key, WeightReader& weights,
                   Rope& rope) {
  rope.original_n_ctx = rope.short_text =
      metadata.size_or(key("rope.scaling.original_context_length"), rope.n_ctx);
  const std::vector<double> plain = rope.inverse_frequencies;
  rope.inverse_frequencies = divided_by(plain, "rope_factors_short.weight", metadata, weights);
  rope.long_inverse_frequencies = divided_by(plain, "rope_factors_long.weight", metadata, weights);
  rope.scaling = "longrope";
  rope.factor = static_cast<double>(rope.n_ctx) / static_cast<double>(rope.original_n_ctx);
  rope.magnitude = static_cast<float>(metadata.positive_or(key("rope.scaling.attn_factor"), 1.0));
}

void read_yarn(const GgufMetadata& metadata, const GgufKeys& key, bool scales_scores, Rope& rope) {
  const double factor = rope.factor;
  YarnScaling yarn;
  yarn.factor = factor;
  yarn.original_n_ctx = metadata.size_or(key("rope.scaling.original_context_length"), rope.n_ctx);
  yarn.beta_fast = metadata.positive_or(key("rope.scaling.yarn_beta_fast"), yarn.beta_fast);
  yarn.beta_slow = metadata.positive_or(key("rope.scaling.yarn_beta_slow"), yarn.beta_slow);
  scale_yarn(yarn, rope);
  rope.original_n_ctx = yarn.original_n_ctx;
  const double all_dimensions = metadata.number_or(key("rope.scaling.yarn_log_multiplier"), 0.0);
  const double of_all = all_dimensions > 0.0 ? yarn_magnitude(factor, all_dimensions) : 1.0;
  const double magnitude =
      scales_scores && all_dimensions > 0.0 ? 1.0 : yarn_magnitude(factor) / of_all;
  // The magnitude in the model's config, which llama.cpp does not read.
  const std::string said = key("rope.scaling.yarn_attn_factor");
  constexpr double kRounding = 1e-5;
  if (const double own = metadata.positive_or(said, magnitude);
      own != 1.0 && std::abs(own - magnitude) > kRounding * magnitude) {
    refuse(metadata, said, fmt::format("{:.6g} as the factor makes it, or 1", magnitude));
  }
  const double any = metadata.positive_or(key("rope.scaling.attn_factor"), 1.0);
  rope.magnitude = static_cast<float>(any * magnitude);
}

}  // namespace

std::string gguf_where(const GgufMetadata& metadata) {
  return fmt::format("{}: ", metadata.gguf().file());
}

std::size_t n_nextn_layers(const GgufMetadata& metadata) {
  const GgufKeys key(metadata);
  const std::string ahead = key("nextn_predict_layers");
  const std::size_t n = metadata.id(ahead).value_or(0);
  if (const std::size_t n_all = metadata.size(key("block_count")); n > 0 && n >= n_all) {
    metadata.fail(ahead, fmt::format("expected less than block_count {}, found {}", n_all, n));
  }
  return n;
}

void require_each_layer(const GgufMetadata& metadata, std::string_view key, std::size_t n_items) {
  const std::size_t n_all = metadata.size(GgufKeys(metadata)("block_count"));
  if (n_items != n_all && n_items != n_all - n_nextn_layers(metadata)) {
    metadata.fail(key,
                  fmt::format("expected {}, an item for each layer, found {}", n_all, n_items));
  }
}

void read_picture_keys(const GgufMetadata& metadata) {
  for (const char* key :
       {"rope.dimension_sections", "rope.mrope_section", "rope.mrope_interleaved", "mrope_sections",
        "n_deepstack_layers", "image_token_id", "vision_start_token_id", "vision_end_token_id"}) {
    metadata.find(GgufKeys(metadata)(key));
  }
}

SizesOfLayers::SizesOfLayers(const GgufMetadata& metadata, const std::string& key,
                             std::size_t least) {
  const GgufValue* const value = metadata.find(key);
  if (value == nullptr || value->type() != GgufType::kArray) {
    same_ = metadata.size(key);
    return;
  }
  const std::vector<double> numbers = metadata.numbers(key);
  constexpr double kMost = 2147483648.0;
  const auto is_size = [least](double size) {
    return size >= static_cast<double>(least) && size <= kMost && size == std::floor(size);
  };
  require_each_layer(metadata, key, numbers.size());
  if (!std::ranges::all_of(numbers, is_size)) {
    metadata.fail(key, fmt::format("expected a whole number of at least {} for each layer", least));
  }
  listed_.assign(numbers.begin(), numbers.end());
  same_ = *std::ranges::max_element(listed_);
}

std::shared_ptr<const Rope> read_gguf_rope(const GgufMetadata& metadata, WeightReader& weights,
                                           const GgufRopeFacts& facts) {
  const GgufKeys key(metadata);
  Rope rope = plain_rope(rotated(metadata, key, facts.d_head),
                         metadata.positive_or(key("rope.freq_base"), 10000.0), facts.n_ctx);
  rope.pairing = facts.pairing;
  if (facts.has_factors && weights.has("rope_freqs.weight")) {
    const std::vector<double> plain = rope.inverse_frequencies;
    rope.inverse_frequencies = divided_by(plain, "rope_freqs.weight", metadata, weights);
    rope.scaling = "llama3";
    for (std::size_t i = 0; i < plain.size(); ++i) {
      rope.factor = std::max(rope.factor, plain[i] / rope.inverse_frequencies[i]);
    }
  }
  const std::string type_key = key("rope.scaling.type");
  const std::string_view type = metadata.text_or(type_key, facts.scaling);
  const std::string own_factor = key("rope.scaling.factor");
  const std::string factor_key = metadata.has(own_factor) ? own_factor : key("rope.scale_linear");
  // 0 means none: llama_model::load_hparams().
  const bool has_factor = metadata.number_or(factor_key, 0.0) != 0.0;
  const double factor = has_factor ? metadata.positive(factor_key) : 1.0;
  if (type == "longrope" || (facts.has_factors && weights.has("rope_factors_long.weight"))) {
    // llama.cpp would scale these divided frequencies once more.
    if (metadata.has(type_key) && type != "longrope" && type != "none") {
      refuse(metadata, type_key, "longrope or none beside rope_factors_long.weight");
    }
    if (factor != 1.0) {
      refuse(metadata, factor_key, "1 beside rope_factors_long.weight");
    }
    read_longrope(metadata, key, weights, rope);
  } else if (type == "yarn") {
    rope.scaling = "yarn";
    rope.factor = factor;
    read_yarn(metadata, key, facts.scales_scores, rope);
  } else if (type == "linear") {
    if (factor != 1.0) {
      rope.scaling = "linear";
      rope.factor = factor;
      scale_linear(factor, rope);
      rope.n_ctx = facts.n_ctx;  // the file's n_ctx is already scaled
    }
  } else if (type != "none") {
    refuse(metadata, type_key, "none, linear, yarn or longrope");
  }
  if (!is_finite(rope)) {
    metadata.fail(key("rope.scaling"), "the numbers make frequencies that are not finite");
  }
  return std::make_shared<const Rope>(std::move(rope));
}

}  // namespace attnviz
