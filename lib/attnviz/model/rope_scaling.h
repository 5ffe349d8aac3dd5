// Rotary frequencies: how they are scaled, and how a Hugging Face config.json describes them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/model/hf_config.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// A family's defaults for its rotary positions; the config may override them.
struct RopeFacts {
  std::size_t d_head = 0;
  std::size_t n_ctx = 0;       // max_position_embeddings
  double rotated_share = 1.0;  // of a head's dimensions
  double base = 10000.0;
  std::size_t original_n_ctx = 0;            // the config's default for it; 0: n_ctx
  std::string_view base_key = "rope_theta";  // of the base, outside of a scaling
  std::string_view old_base_key = {};        // the family's own name for it
  std::string_view old_share_key = {};       // and for "partial_rotary_factor"
  std::string_view kind = {};  // of layers, where newer configs list several: "full_attention"
  RopePairing pairing = RopePairing::kHalves;
  // For texts with pictures. A text token has the same position in all sections, so it turns as
  // without sections (M-RoPE, Wang et al. 2024).
  bool has_sections = false;
  // "alpha" in a scaling of type dynamic stretches the base once, for texts of any length: HunYuan.
  bool has_alpha = false;
};

/// The widest head for which frequencies are computed.
inline constexpr std::size_t kWidestHead = 65536;

/// Returns base^(-2i / n_rotated) for each pair i.
std::vector<double> inverse_frequencies(std::size_t n_rotated, double base);

/// Rotary positions without scaling. Throws Error{kMalformed} for more than kWidestHead.
Rope plain_rope(std::size_t n_rotated, double base, std::size_t n_ctx);

/// Moves positions closer together by `factor` (Chen et al. 2023).
void scale_linear(double factor, Rope& rope);

struct YarnScaling {
  double factor = 1.0;
  std::size_t original_n_ctx = 0;
  double beta_fast = 32.0;  // turns in the original context from which a dimension is unchanged
  double beta_slow = 1.0;   // … below which it is fully interpolated
  bool truncate = true;     // round these dimensions to whole numbers
};

/// Scales as in Peng et al. 2023, section 3.2: dimensions that turn often in the original context
/// stay unchanged, those that turn less than once are interpolated, with a ramp between. Does not
/// set the magnitude.
void scale_yarn(const YarnScaling& scaling, Rope& rope);

/// YaRN's magnitude for a factor (eq. 22): 0.1 · scale · ln(factor) + 1.
double yarn_magnitude(double factor, double scale = 1.0);

/// The scale of a magnitude in a config's YaRN, "mscale" or "mscale_all_dim". 0, which a config may
/// also contain, means none. Throws Error{kMalformed} for numbers below 0.
double yarn_scale(const HfConfig& scaling, std::string_view key);

/// Divides each frequency by its factor. Precondition: as many factors as frequencies.
std::vector<double> divided(const std::vector<double>& frequencies, std::span<const float> factors);

/// Whether the magnitude and all frequencies are finite.
bool is_finite(const Rope& rope) noexcept;

/// Reads the frequencies that a config.json describes: "rope_theta" (or "rotary_emb_base"),
/// "partial_rotary_factor" (or "rotary_pct"), and "rope_scaling" of the types default, linear (Chen
/// et al. 2023), dynamic (NTK-aware, with the text's length), yarn (Peng et al. 2023), llama3,
/// longrope (Ding et al. 2024) and proportional (Gemma 4). In newer files "rope_parameters" holds
/// all of these.
///
/// Throws Error{kMalformed} for numbers that are missing or out of range. Throws
/// Error{kUnsupported} for another type, for a scaling without a type, and for two keys that mean
/// the same but have different values, naming both.
Rope read_config_rope(const HfConfig& config, const RopeFacts& facts);

/// Reads the frequencies of Gemma 3's sliding layers: base "rope_local_base_freq", scaled only if
/// "sliding_attention" in "rope_parameters" describes a scaling.
Rope read_local_rope(const HfConfig& config, RopeFacts facts);

}  // namespace attnviz
