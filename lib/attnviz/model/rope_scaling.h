// Rotary frequencies: how they are scaled, and how a Hugging Face config.json describes them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/model/hf_config.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// What a family knows of its rotary positions; the config may say otherwise.
struct RopeFacts {
  std::size_t d_head = 0;
  std::size_t n_ctx = 0;       // max_position_embeddings
  double rotated_share = 1.0;  // of a head's dimensions
  double base = 10000.0;
  std::size_t original_n_ctx = 0;            // what the config assumes of it; 0: n_ctx
  std::string_view base_key = "rope_theta";  // beside that of a scaling
  std::string_view old_base_key = {};        // a family's own name of it
  std::string_view old_share_key = {};       // and of "partial_rotary_factor"
  std::string_view kind = {};  // of layers, when newer configs describe several: "full_attention"
  RopePairing pairing = RopePairing::kHalves;
  // Of texts and pictures: a token of a text stands at the same place in all sections, so that they
  // turn as without (Wang et al. 2024, M-RoPE).
  bool has_sections = false;
  // "alpha" beside the type dynamic stretches the base once, for texts of any length: HunYuan.
  bool has_alpha = false;
};

/// The widest head that frequencies are made for.
inline constexpr std::size_t kWidestHead = 65536;

/// base^(-2i / n_rotated).
std::vector<double> inverse_frequencies(std::size_t n_rotated, double base);

/// Rotary positions that nothing scales. Throws Error{kMalformed} for more than kWidestHead.
Rope plain_rope(std::size_t n_rotated, double base, std::size_t n_ctx);

/// Positions lie closer together by `factor` (Chen et al. 2023).
void scale_linear(double factor, Rope& rope);

struct YarnScaling {
  double factor = 1.0;
  std::size_t original_n_ctx = 0;
  double beta_fast = 32.0;  // turns in the original context from which on a dimension stays
  double beta_slow = 1.0;   // … below which it is interpolated
  bool truncate = true;     // these dimensions are whole numbers
};

/// Peng et al. 2023, section 3.2: dimensions that turn often in the original context stay, those
/// that turn less than once are interpolated, with a ramp between. Sets no magnitude.
void scale_yarn(const YarnScaling& scaling, Rope& rope);

/// YaRN's magnitude for a factor (eq. 22): 0.1 · scale · ln(factor) + 1.
double yarn_magnitude(double factor, double scale = 1.0);

/// The scale of a magnitude in a config's YaRN, "mscale" or "mscale_all_dim"; 0: none, as a config
/// may say, too. Throws Error{kMalformed} for numbers below 0.
double yarn_scale(const HfConfig& scaling, std::string_view key);

/// Each frequency divided by its factor. Precondition: as many factors as frequencies.
std::vector<double> divided(const std::vector<double>& frequencies, std::span<const float> factors);

/// Whether magnitude and all frequencies are finite.
bool is_finite(const Rope& rope) noexcept;

/// The frequencies that a config.json describes: "rope_theta" (or "rotary_emb_base"),
/// "partial_rotary_factor" (or "rotary_pct"), and "rope_scaling" of the types default, linear (Chen
/// et al. 2023), dynamic (NTK-aware, with the text's length), yarn (Peng et al. 2023), llama3,
/// longrope (Ding et al. 2024) and proportional (Gemma 4); or all of these in newer files'
/// "rope_parameters".
///
/// Throws Error{kMalformed} for numbers that are missing or out of range, Error{kUnsupported} for
/// another type, a scaling without one, and two keys that mean the same and say different things,
/// naming these.
Rope read_config_rope(const HfConfig& config, const RopeFacts& facts);

/// Those of Gemma 3's sliding layers: base "rope_local_base_freq", scaled only as
/// "sliding_attention" in "rope_parameters" says.
Rope read_local_rope(const HfConfig& config, RopeFacts facts);

}  // namespace attnviz
