// What stands around attention in a transformer's layer: norms, rotary positions, the MLP.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/activations.h"
#include "attnviz/kernels/rope.h"

namespace attnviz {

/// y = x · weight + bias. weight [d_in, d_out], row-vector convention; bias empty or d_out long.
struct Projection {
  StoredMatrix weight;
  std::span<const float> bias;

  std::size_t d_in() const noexcept { return weight.rows; }
  std::size_t d_out() const noexcept { return weight.cols; }
  bool operator==(const Projection& other) const noexcept {
    return weight == other.weight && bias.data() == other.bias.data() &&
           bias.size() == other.bias.size();
  }
};

enum class NormKind {
  kLayer,  // (x - mean) / √(variance + epsilon) · weight + bias   (Ba et al. 2016)
  kRms,    // x / √(mean of x² + epsilon) · weight                 (Zhang & Sennrich 2019)
};

struct Norm {
  NormKind kind = NormKind::kLayer;
  std::span<const float> weight;  // [d]; empty: no norm stands here
  std::span<const float> bias;    // [d], or empty
  double epsilon = 1e-5;
  float weight_offset = 0.0f;  // added to each weight: Gemma stores weight - 1

  bool present() const noexcept { return !weight.empty(); }
};

/// out = norm of x, row by row; a copy when there is no norm. The same matrix, or no overlap.
void apply_norm(const Norm& norm, ConstMatrix x, Matrix out) noexcept;

using kernels::RopePairing;

/// Rotary position embedding of a layer's queries and keys (Su et al. 2021). Of a head's dimensions
/// [n_still, n_still + n_rotated) turn, and the others stay.
struct Rope {
  RopePairing pairing = RopePairing::kHalves;
  std::size_t n_still = 0;  // dimensions in front of those that turn: DeepSeek-V2's heads
  std::vector<double> inverse_frequencies;  // [n_rotated / 2], radians a token
  float magnitude = 1.0f;                   // of cosine and sine: YaRN's attention factor
  // β: a query at position p is multiplied by 1 + β ln(1 + ⌊p / original_n_ctx⌋), so that weights
  // over many keys stay as sharp (Nakanishi 2025); 0: by nothing.
  double query_growth = 0.0;

  // What changes for texts of more than `short_text` tokens.
  std::size_t short_text = 0;   // 0: nothing
  double base = 0.0;            // "dynamic" scaling stretches the base with the text
  double dynamic_factor = 0.0;  // 0: not dynamic
  std::vector<double> long_inverse_frequencies;  // "longrope"

  std::size_t n_ctx = 0;  // the longest text that it is scaled for

  // What the frequencies were made from, for people.
  double theta = 10000.0;             // the base that a config gives
  std::string_view scaling = "none";  // "linear", "dynamic", "yarn", "llama3", "longrope"
  double factor = 1.0;                // of the scaling
  std::size_t original_n_ctx = 0;     // the longest text before it; 0: not said

  /// 0 in layers that have no rotary positions in models that have.
  std::size_t n_rotated() const noexcept { return 2 * inverse_frequencies.size(); }
  /// What a query at `position` is multiplied by.
  double query_factor(std::size_t position) const noexcept;
  /// Those for a text of `n_tokens`.
  std::vector<double> frequencies(std::size_t n_tokens) const;
  /// Whether these are the same for texts of two lengths.
  bool turns_alike(std::size_t n_tokens, std::size_t other) const noexcept;
};

using kernels::Activation;

/// (act(x · gate) ∘ (x · up)) · down, or act(x · up) · down without a gate (Shazeer 2020).
struct Mlp {
  Projection gate;  // [d_model, d_ff], or empty
  Projection up;    // [d_model, d_ff]
  Projection down;  // [d_ff, d_model]
  Activation activation = Activation::kGelu;
  // `up` is [d_model, 2 · d_ff] and has the gate's columns as well, each in front of its own.
  bool interleaved = false;
  // l > 0: in place of act(g) ∘ u, g̃ · σ(1.702 g̃) ∘ (ũ + 1) with g̃ = min(g, l) and ũ = u cut to
  // [-l, l] (gpt-oss, OpenAI 2025).
  float limit = 0.0f;
  // s > 0: g becomes max(0, g - (mean + Φ⁻¹(s) · deviation)) of its token's gates before act, so
  // that about this share of them is 0 (Gemma 3n, Gemma Team 2025). Less than 1.
  double sparsity = 0.0;
  // Scales of the gates before act, and of the hidden layer after them (Falcon-H1); only for MLPs
  // with a gate, not interleaved.
  float gate_scale = 1.0f, hidden_scale = 1.0f;

  bool present() const noexcept { return !up.weight.empty(); }
  bool is_gated() const noexcept { return interleaved || !gate.weight.empty(); }
  std::size_t d_ff() const noexcept { return down.d_in(); }
};

/// A gated causal convolution in place of attention: B, C, x = in(y); out(C ∘ conv(B ∘ x)), each
/// channel with the `width` last tokens of its own (LFM2, Liquid AI 2025).
struct Convolution {
  Projection in;                  // [d_model, 3 d]: B, C and x
  std::span<const float> kernel;  // [d, width], the token's own weight last
  std::span<const float> bias;    // [d], or empty
  std::size_t width = 0;
  Projection out;  // [d, d_model]

  bool present() const noexcept { return width > 0; }
  std::size_t n_channels() const noexcept { return out.d_in(); }
  /// The kernel as rows of channels; empty without one.
  StoredMatrix kernel_rows() const noexcept {
    return present() ? StoredMatrix(ConstMatrix{kernel.data(), n_channels(), width, width})
                     : StoredMatrix();
  }
};

/// What a layer adds of each token's own embedding for it, behind the MLP:
/// x += norm((act(x · gate) ∘ p) · projection), p [e] of the token and the layer (Gemma 3n and 4).
struct LayerInput {
  Projection gate;        // [d_model, e]
  Projection projection;  // [e, d_model]
  Norm norm;
  Activation activation = Activation::kGeluTanh;

  bool present() const noexcept { return !gate.weight.empty(); }
};

/// How the parts of a layer follow one another; x is the residual stream.
enum class LayerOrder {
  kAttentionOnly,  // x + attention(x), or attention(x) when the model has no residual
  kPreNorm,        // x += n(attention(norm(x))); x += n(mlp(norm(x)))    GPT-2, Llama; n: Gemma 2;
                   // n without norm: OLMo 2
  kParallel,       // x + attention(norm(x)) + mlp(norm'(x))              GPT-NeoX
  kPostNorm,       // x = norm(x + attention(x)); x = norm(x + mlp(x))    BERT
};

}  // namespace attnviz
