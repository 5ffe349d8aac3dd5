#include "attnviz/model/rope_scaling.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// The shape of the positions to be scaled.
struct RopeShape {
  std::size_t d_head = 0;
  std::size_t n_rotated = 0;
  double base = 0.0;
  std::size_t n_ctx = 0;
  std::size_t original_n_ctx = 0;  // default if the scaling does not set it
  bool says_original = false;      // the config or its class does
  bool has_alpha = false;
};

constexpr double kTurn = 2.0 * std::numbers::pi;

// The context of the original training: a value in the scaling takes precedence over one beside it.
// transformers' RotaryEmbeddingConfigMixin, standardize_rope_params().
std::size_t original_context(const HfConfig& scaling, const RopeShape& shape) {
  return scaling.size_or("original_max_position_embeddings", shape.original_n_ctx);
}

// A context that grew by `factor`.
std::size_t stretched(std::size_t n_ctx, double factor) noexcept {
  constexpr double kMost = 2147483648.0;
  const double longer = std::min(static_cast<double>(n_ctx) * std::max(factor, 1.0), kMost);
  return static_cast<std::size_t>(longer);
}

// Llama 3.1: long wavelengths are stretched, short ones stay unchanged, those in between are
// blended.
void scale_llama3(const HfConfig& scaling, const RopeShape& shape, Rope& rope) {
  const double factor = scaling.positive("factor");
  const double low = scaling.positive("low_freq_factor");
  const double high = scaling.positive("high_freq_factor");
  const auto n_ctx = static_cast<double>(original_context(scaling, shape));
  if (!(low < high)) {
    scaling.node().fail("expected low_freq_factor below high_freq_factor");
  }
  for (double& frequency : rope.inverse_frequencies) {
    const double turns = n_ctx * frequency / kTurn;  // in the original context
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency = (1.0 - kept) * frequency / factor + kept * frequency;
  }
}

double config_yarn_magnitude(const HfConfig& scaling, double factor) {
  if (scaling.has("attention_factor")) {
    return scaling.positive("attention_factor");
  }
  const double scale = yarn_scale(scaling, "mscale");
  const double of_all = yarn_scale(scaling, "mscale_all_dim");
  return scale > 0.0 && of_all > 0.0
             ? yarn_magnitude(factor, scale) / yarn_magnitude(factor, of_all)
             : yarn_magnitude(factor);
}

void scale_config_yarn(const HfConfig& scaling, const RopeShape& shape, Rope& rope) {
  YarnScaling yarn;
  yarn.factor = scaling.positive("factor");
  yarn.original_n_ctx = original_context(scaling, shape);
  yarn.beta_fast = scaling.positive_or("beta_fast", yarn.beta_fast);
  yarn.beta_slow = scaling.positive_or("beta_slow", yarn.beta_slow);
  yarn.truncate = scaling.flag_or("truncate", yarn.truncate);
  scale_yarn(yarn, rope);
  rope.magnitude = static_cast<float>(config_yarn_magnitude(scaling, yarn.factor));
}

std::vector<double> divided_by(const std::vector<double>& frequencies, const HfConfig& scaling,
                               std::string_view key) {
  const JsonNode node = scaling.at(key);
  const std::span<const float> factors = node.as_numbers();
  if (factors.size() != frequencies.size()) {
    node.fail(fmt::format("expected {}, found {}", counted(frequencies.size(), "number"),
                          factors.size()));
  }
  if (!std::ranges::all_of(factors, [](float factor) { return factor > 0.0f; })) {
    node.fail("expected numbers above 0");
  }
  return divided(frequencies, factors);
}

// Ding et al. 2024: a factor for each dimension, and other factors for long texts.
void scale_longrope(const HfConfig& scaling, const RopeShape& shape, Rope& rope) {
  const std::size_t original = original_context(scaling, shape);
  const std::vector<double> plain = rope.inverse_frequencies;
  rope.inverse_frequencies = divided_by(plain, scaling, "short_factor");
  rope.long_inverse_frequencies = divided_by(plain, scaling, "long_factor");
  rope.short_text = original;
  const double grown = static_cast<double>(shape.n_ctx) / static_cast<double>(original);
  const double factor = scaling.positive_or("factor", grown);
  // In this case transformers 4 ignores the factor, transformers 5 does not.
  constexpr double kRounding = 1e-6;
  if (shape.says_original && !scaling.has("attention_factor") &&
      std::abs(factor - grown) > kRounding * grown) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected {}, max_position_embeddings / "
                            "original_max_position_embeddings, found {}: which of them holds "
                            "depends on the library",
                            scaling.at("factor").where(), grown, factor));
  }
  const double magnitude =
      factor <= 1.0 ? 1.0
                    : std::sqrt(1.0 + std::log(factor) / std::log(static_cast<double>(original)));
  rope.magnitude = static_cast<float>(scaling.positive_or("attention_factor", magnitude));
}

void scale_config_linear(const HfConfig& scaling, const RopeShape& /*shape*/, Rope& rope) {
  scale_linear(scaling.positive("factor"), rope);
}

void scale_dynamic(const HfConfig& scaling, const RopeShape& shape, Rope& rope) {
  if (shape.has_alpha && scaling.has("alpha")) {
    const auto width = static_cast<double>(shape.n_rotated);
    const double stretched = std::pow(scaling.positive("alpha"), width / (width - 2.0));
    rope = plain_rope(shape.n_rotated, shape.base * stretched, shape.n_ctx);
    for (const char* key : {"beta_fast", "beta_slow", "factor", "mscale", "mscale_all_dim"}) {
      scaling.find(key);  // for other scalings
    }
    return;
  }
  rope.dynamic_factor = scaling.positive("factor");
  rope.n_ctx = stretched(shape.n_ctx, rope.dynamic_factor);
  rope.base = shape.base;
  rope.short_text = shape.n_ctx;
}

// Dimensions pair across the whole head, and a share of them rotates (Gemma 4).
void scale_proportional(const HfConfig& scaling, const RopeShape& shape, Rope& rope) {
  const std::size_t n_turning = rope.inverse_frequencies.size();
  rope.inverse_frequencies = inverse_frequencies(shape.d_head, shape.base);
  std::fill(rope.inverse_frequencies.begin() + static_cast<std::ptrdiff_t>(n_turning),
            rope.inverse_frequencies.end(), 0.0);
  scale_linear(scaling.positive_or("factor", 1.0), rope);
  rope.n_ctx = shape.n_ctx;
}

// A type of scaling, and its function.
struct Scaling {
  std::string_view type;
  void (*scale)(const HfConfig& scaling, const RopeShape& shape, Rope& rope);
  bool knows_original;  // the context of the original training
};

constexpr Scaling kScalings[] = {
    {"linear", scale_config_linear, false}, {"dynamic", scale_dynamic, false},
    {"yarn", scale_config_yarn, true},      {"llama3", scale_llama3, true},
    {"longrope", scale_longrope, true},     {"proportional", scale_proportional, false},
};

// Names the type with text that outlives the config.
void describe(const HfConfig& scaling, const Scaling& known, const RopeShape& shape, Rope& rope) {
  rope.scaling = known.type;
  double grown = 1.0;
  if (known.knows_original) {
    rope.original_n_ctx = original_context(scaling, shape);
    grown = static_cast<double>(shape.n_ctx) / static_cast<double>(rope.original_n_ctx);
  }
  rope.factor = scaling.positive_or("factor", grown);
}

// The type, "type" in older files. Throws if a scaling has numbers but no type.
std::string_view scaling_type(const HfConfig& scaling, bool has_sections) {
  const auto plain = [has_sections](std::string_view type) {
    return type == "su" ? "longrope" : has_sections && type == "mrope" ? "default" : type;
  };
  const std::optional<JsonNode> newer = scaling.find("rope_type");
  const std::optional<JsonNode> older = scaling.find("type");
  if (newer && older && plain(newer->as_string()) != plain(older->as_string())) {
    require_same(older, newer);
  }
  if (newer || older) {
    return plain((newer ? newer : older)->as_string());
  }
  for (const JsonNode& member : scaling.node().as_object()) {
    if (member.key().ends_with("factor") && member.key() != "partial_rotary_factor" &&
        member.kind() != JsonKind::kNull) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected rope_type beside it, found none", member.where()));
    }
  }
  return "default";
}

Rope read_scaled(const std::optional<HfConfig>& scaling, const RopeShape& shape,
                 bool has_sections) {
  Rope rope = plain_rope(shape.n_rotated, shape.base, shape.n_ctx);
  if (!scaling) {
    return rope;
  }
  if (has_sections) {
    scaling->find("mrope_section");
    scaling->find("mrope_interleaved");
  }
  const std::string_view type = scaling_type(*scaling, has_sections);
  const auto* const known = std::ranges::find(kScalings, type, &Scaling::type);
  if (known != std::end(kScalings)) {
    describe(*scaling, *known, shape, rope);
    known->scale(*scaling, shape, rope);
  } else if (type != "default") {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}rope_type {}: expected default, linear, dynamic, yarn, llama3, "
                            "longrope or proportional",
                            scaling->node().where(), in_quotes(type)));
  }
  if (!is_finite(rope)) {
    scaling->node().fail("the numbers make frequencies that are not finite");
  }
  return rope;
}

// The number of rotated dimensions, rounded down to whole pairs.
std::size_t rotated(const HfConfig& config, std::size_t d_head, double share) {
  if (share > 1.0) {
    config.node().fail(fmt::format("expected to rotate a share of at most 1, found {}", share));
  }
  constexpr double kRounding = 1e-3;  // for shares that were rounded to floats
  return static_cast<std::size_t>(share * static_cast<double>(d_head) + kRounding) / 2 * 2;
}

// Reads a number from the scaling, or under one of several keys beside it.
double read_number(const HfConfig& config, const std::optional<HfConfig>& scaling,
                   std::string_view key, std::initializer_list<std::string_view> beside,
                   double otherwise) {
  std::optional<JsonNode> found = scaling ? scaling->find(key) : std::nullopt;
  double number = found ? scaling->positive(key) : otherwise;
  for (const std::string_view name : beside) {
    const std::optional<JsonNode> other = name.empty() ? std::nullopt : config.find(name);
    require_same(other, found);
    if (other && !found) {
      number = config.positive(name);
      found = other;
    }
  }
  return number;
}

Rope read_rope(const HfConfig& config, const std::optional<HfConfig>& scaling,
               const RopeFacts& facts) {
  constexpr std::string_view kOriginal = "original_max_position_embeddings";
  constexpr std::string_view kShare = "partial_rotary_factor";
  RopeShape shape;
  shape.d_head = facts.d_head;
  shape.n_rotated = rotated(
      config, facts.d_head,
      read_number(config, scaling, kShare, {kShare, facts.old_share_key}, facts.rotated_share));
  shape.base =
      read_number(config, scaling, "rope_theta", {facts.base_key, facts.old_base_key}, facts.base);
  shape.n_ctx = facts.n_ctx;
  shape.original_n_ctx =
      config.size_or(kOriginal, facts.original_n_ctx == 0 ? facts.n_ctx : facts.original_n_ctx);
  shape.has_alpha = facts.has_alpha;
  shape.says_original = config.has(kOriginal) || facts.original_n_ctx != 0;
  if (scaling) {
    require_same(find_value(config.node(), kOriginal), find_value(scaling->node(), kOriginal));
  }
  Rope rope = read_scaled(scaling, shape, facts.has_sections);
  rope.pairing = facts.pairing;
  return rope;
}

}  // namespace

Rope plain_rope(std::size_t n_rotated, double base, std::size_t n_ctx) {
  if (n_rotated > kWidestHead) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("rotary positions: expected at most {} dimensions of a head, found {}",
                            kWidestHead, n_rotated));
  }
  Rope rope;
  rope.inverse_frequencies = inverse_frequencies(n_rotated, base);
  rope.n_ctx = n_ctx;
  rope.theta = base;
  return rope;
}

void scale_linear(double factor, Rope& rope) {
  for (double& frequency : rope.inverse_frequencies) {
    frequency /= factor;
  }
  rope.n_ctx = stretched(rope.n_ctx, factor);
}

void scale_yarn(const YarnScaling& scaling, Rope& rope) {
  constexpr double kNarrowest = 0.001;
  const auto n_ctx = static_cast<double>(scaling.original_n_ctx);
  const auto width = static_cast<double>(rope.n_rotated());
  const auto dimension = [&](double turns) {
    return width * std::log(n_ctx / (turns * kTurn)) / (2.0 * std::log(rope.theta));
  };
  double first = dimension(scaling.beta_fast);
  double last = dimension(scaling.beta_slow);
  if (scaling.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, width - 1.0);
  if (first == last) {
    last += kNarrowest;
  }
  for (std::size_t i = 0; i < rope.inverse_frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    double& frequency = rope.inverse_frequencies[i];
    frequency = ramp * frequency / scaling.factor + (1.0 - ramp) * frequency;
  }
  rope.n_ctx = std::max(rope.n_ctx, stretched(scaling.original_n_ctx, scaling.factor));
}

double yarn_magnitude(double factor, double scale) {
  return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
}

double yarn_scale(const HfConfig& scaling, std::string_view key) {
  const std::optional<JsonNode> found = scaling.find(key);
  return found && found->as_number() != 0.0f ? scaling.positive(key) : 0.0;
}

std::vector<double> divided(const std::vector<double>& frequencies,
                            std::span<const float> factors) {
  std::vector<double> result = frequencies;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] /= static_cast<double>(factors[i]);
  }
  return result;
}

bool is_finite(const Rope& rope) noexcept {
  const auto finite = [](double number) { return std::isfinite(number); };
  return std::isfinite(rope.magnitude) && std::ranges::all_of(rope.inverse_frequencies, finite) &&
         std::ranges::all_of(rope.long_inverse_frequencies, finite);
}

std::vector<double> inverse_frequencies(std::size_t n_rotated, double base) {
  std::vector<double> frequencies;
  frequencies.reserve(n_rotated / 2);
  for (std::size_t i = 0; i < n_rotated / 2; ++i) {
    frequencies.push_back(
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(n_rotated)));
  }
  return frequencies;
}

std::vector<double> Rope::frequencies(std::size_t n_tokens) const {
  if (short_text == 0 || n_tokens <= short_text) {
    return inverse_frequencies;
  }
  if (dynamic_factor == 0.0) {
    return long_inverse_frequencies;
  }
  const auto width = static_cast<double>(n_rotated());
  const double longer = static_cast<double>(n_tokens) / static_cast<double>(short_text);
  const double stretched = dynamic_factor * longer - (dynamic_factor - 1.0);
  return attnviz::inverse_frequencies(n_rotated(),
                                      base * std::pow(stretched, width / (width - 2.0)));
}

double Rope::query_factor(std::size_t position) const noexcept {
  if (query_growth == 0.0 || original_n_ctx == 0) {
    return 1.0;
  }
  const std::size_t n_times = position / original_n_ctx;
  return 1.0 + query_growth * std::log1p(static_cast<double>(n_times));
}

bool Rope::turns_alike(std::size_t n_tokens, std::size_t other) const noexcept {
  if (short_text == 0 || n_tokens == other) {
    return true;
  }
  const bool both_short = std::max(n_tokens, other) <= short_text;
  const bool both_long = std::min(n_tokens, other) > short_text;
  return both_short || (both_long && dynamic_factor == 0.0);
}

Rope read_config_rope(const HfConfig& config, const RopeFacts& facts) {
  const std::optional<HfConfig> parameters = config.object("rope_parameters");
  if (!parameters) {
    return read_rope(config, config.object("rope_scaling"), facts);
  }
  const auto by_kind = facts.kind.empty() ? std::nullopt : parameters->object(facts.kind);
  return read_rope(config, by_kind ? by_kind : parameters, facts);
}

Rope read_local_rope(const HfConfig& config, RopeFacts facts) {
  facts.base = 10000.0;
  facts.base_key = "rope_local_base_freq";
  const std::optional<HfConfig> parameters = config.object("rope_parameters");
  return read_rope(config, parameters ? parameters->object("sliding_attention") : std::nullopt,
                   facts);
}

}  // namespace attnviz
