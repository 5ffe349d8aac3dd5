// The ways a layer mixes tokens instead of attention, or beside it: with states that are updated
// token by token.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// How a layer mixes tokens. Only attention has heads with weights.
enum class MixerKind {
  kAttention,    // Falcon-H1 has states beside it
  kConvolution,  // LFM2 (Liquid AI 2025)
  kGatedDelta,   // gated delta net (Yang et al. 2024): Qwen3-Next, Qwen 3.5
  kMamba2,       // Dao & Gu 2024: Granite 4, Nemotron-H
  kNone,         // each token on its own, in an MLP or in experts: Nemotron-H
};

/// Names in documents.
inline constexpr std::array kMixers = {
    Choice{"attention", MixerKind::kAttention}, Choice{"convolution", MixerKind::kConvolution},
    Choice{"gated_delta_net", MixerKind::kGatedDelta}, Choice{"mamba2", MixerKind::kMamba2},
    Choice{"none", MixerKind::kNone}};

/// A name for people: "attention", "convolution", "gated delta net", "Mamba-2", "MLP".
std::string_view mixer_name(MixerKind kind) noexcept;
/// A phrase for the layer: "a convolution", "a gated delta net", "Mamba-2", "an MLP alone".
std::string_view mixer_phrase(MixerKind kind) noexcept;

/// A projection whose output fills some columns of a wider matrix, from column `first` on.
struct PlacedProjection {
  Projection projection;  // [d_model, n]
  std::size_t first = 0;
  float scale = 1.0f;  // of its output
};

/// A state S [d_key, d_value] per head, which decays and is updated token by token:
///
///   S ← α S + kᵀ w,  o = q S,  α = exp(Δ A),  Δ = softplus(δ + step_bias) cut to the steps' range
///
///   kGatedDelta  w = σ(b) (v − k α S), k and q of length 1, q / √d_key; the layer adds
///                out(norm(o) ∘ silu(z))                  (Yang et al. 2024, eq. 10)
///   kMamba2      w = Δ v, o + skip · v; the layer adds out(norm(o ∘ silu(z))), or without a norm
///                out(o ∘ silu(z))                        (Dao & Gu 2024, section 7)
///
/// q, k and v are silu(convolution) of the output of `in`; the convolution mixes, in each channel
/// separately, the last `width` tokens. Heads share keys and queries as in grouped-query attention.
struct Recurrence {
  MixerKind kind = MixerKind::kNone;  // kGatedDelta or kMamba2; kNone: no state
  std::size_t n_heads = 0;
  std::size_t n_key_heads = 0;  // a divisor of n_heads
  std::size_t d_key = 0;        // Mamba-2: the size of its state
  std::size_t d_value = 0;
  std::size_t width = 0;
  // Together [d_model, n_columns()]: z [n_heads · d_value], the channels, δ [n_heads], and, in a
  // gated delta net, b [n_heads]. The channels are q, k, v; in Mamba-2 v, k, q.
  std::vector<PlacedProjection> in;
  std::span<const float> kernel;     // [n_channels(), width], the token's own weight last
  std::span<const float> bias;       // [n_channels()], or empty
  std::span<const float> rate;       // A, [n_heads]
  std::span<const float> step_bias;  // [n_heads]
  float least_step = 0.0f, most_step = kAnyStep;
  std::span<const float> skip;  // [n_heads], or empty
  Norm norm;  // weights for all values, or the same for each group; may be absent in Mamba-2
  std::size_t n_norm_groups = 1;
  bool gates_last = false;  // Mamba-2: norm(o) ∘ silu(z), as in a gated delta net
  Projection out;           // [n_heads · d_value, d_model]
  float out_scale = 1.0f;   // of the output of `out`
  // Head h has the keys of key head h mod n_key_heads, as llama.cpp orders them; otherwise heads
  // that share keys follow one another.
  bool keys_alternate = false;

  static constexpr float kAnyStep = 3.4e38f;

  bool present() const noexcept { return kind != MixerKind::kNone; }
  bool is_delta() const noexcept { return kind == MixerKind::kGatedDelta; }
  std::size_t d_inner() const noexcept { return n_heads * d_value; }
  std::size_t n_channels() const noexcept { return d_inner() + 2 * n_key_heads * d_key; }
  std::size_t n_columns() const noexcept {
    return d_inner() + n_channels() + n_heads * (is_delta() ? 2 : 1);
  }
  std::size_t key_head(std::size_t head) const noexcept {
    return keys_alternate ? head % n_key_heads : head * n_key_heads / n_heads;
  }
  /// The head's number in the order where heads that share keys follow one another, which is the
  /// same for all files of a model.
  std::size_t number_of(std::size_t head) const noexcept {
    return keys_alternate ? head % n_key_heads * (n_heads / n_key_heads) + head / n_key_heads
                          : head;
  }
  /// How many numbers the next token needs from the tokens before it: the inputs of the convolution
  /// and the heads' states.
  std::size_t n_kept() const noexcept {
    return present() ? (width - 1) * n_channels() + n_heads * d_key * d_value : 0;
  }
};

}  // namespace attnviz
