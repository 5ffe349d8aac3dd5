// The parts around attention in a transformer's layer: norms, rotary positions, the MLP; several
// residual streams, one of which each layer computes with (Gemma 3n); latents, the narrow vectors
// from which queries, keys and values are computed; and experts, many MLPs of which a router
// assigns each token a few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/row_kernels.h"

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
  std::span<const float> weight;  // [d]; empty: no norm
  std::span<const float> bias;    // [d], or empty
  double epsilon = 1e-5;
  float weight_offset = 0.0f;  // added to each weight: Gemma stores weight - 1

  bool present() const noexcept { return !weight.empty(); }
};

/// Writes the norm of x to `out`, row by row; without a norm, a copy. `x` and `out` are the same
/// matrix or do not overlap.
void apply_norm(const Norm& norm, ConstMatrix x, Matrix out) noexcept;

using kernels::RopePairing;

/// Rotary position embedding of a layer's queries and keys (Su et al. 2021). The dimensions
/// [n_still, n_still + n_rotated) of a head rotate, and the others stay unchanged.
struct Rope {
  RopePairing pairing = RopePairing::kHalves;
  std::size_t n_still = 0;  // dimensions before those that rotate: DeepSeek-V2's heads
  std::vector<double> inverse_frequencies;  // [n_rotated / 2], radians per token
  float magnitude = 1.0f;                   // of cosine and sine: YaRN's attention factor
  // β: a query at position p is multiplied by 1 + β ln(1 + ⌊p / original_n_ctx⌋), so that weights
  // stay as sharp over many keys (Nakanishi 2025); 0: no factor.
  double query_growth = 0.0;

  // Changes for texts of more than `short_text` tokens.
  std::size_t short_text = 0;   // 0: none
  double base = 0.0;            // "dynamic" scaling stretches the base with the text
  double dynamic_factor = 0.0;  // 0: not dynamic
  std::vector<double> long_inverse_frequencies;  // "longrope"

  std::size_t n_ctx = 0;  // the longest text for which it is scaled

  // How the frequencies were computed, for people.
  double theta = 10000.0;             // the base in the config
  std::string_view scaling = "none";  // "linear", "dynamic", "yarn", "llama3", "longrope"
  double factor = 1.0;                // of the scaling
  std::size_t original_n_ctx = 0;     // the longest text before scaling; 0: not stated

  /// 0 in layers without rotary positions in models that use them.
  std::size_t n_rotated() const noexcept { return 2 * inverse_frequencies.size(); }
  /// The factor of a query at `position`.
  double query_factor(std::size_t position) const noexcept;
  /// The inverse frequencies for a text of `n_tokens`.
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
  // `up` is [d_model, 2 · d_ff] and contains the gate's columns as well, each before its own.
  bool interleaved = false;
  // l > 0: instead of act(g) ∘ u, g̃ · σ(1.702 g̃) ∘ (ũ + 1) with g̃ = min(g, l) and ũ = u cut to
  // [-l, l] (gpt-oss, OpenAI 2025).
  float limit = 0.0f;
  // s > 0: before act, g becomes max(0, g - (mean + Φ⁻¹(s) · deviation)), over the token's gates,
  // so that about this share of them is 0 (Gemma 3n, Gemma Team 2025). Less than 1.
  double sparsity = 0.0;
  // Scales of the gates before act, and of the hidden layer (Falcon-H1); only for MLPs with a gate
  // that are not interleaved.
  float gate_scale = 1.0f, hidden_scale = 1.0f;

  bool present() const noexcept { return !up.weight.empty(); }
  bool is_gated() const noexcept { return interleaved || !gate.weight.empty(); }
  std::size_t d_ff() const noexcept { return down.d_in(); }
};

/// A gated causal convolution instead of attention: B, C, x = in(y); out(C ∘ conv(B ∘ x)). It
/// mixes, in each channel separately, the last `width` tokens (LFM2, Liquid AI 2025).
struct Convolution {
  Projection in;                  // [d_model, 3 d]: B, C and x
  std::span<const float> kernel;  // [d, width], the token's own weight last
  std::span<const float> bias;    // [d], or empty
  std::size_t width = 0;
  Projection out;  // [d, d_model]

  bool present() const noexcept { return width > 0; }
  std::size_t n_channels() const noexcept { return out.d_in(); }
  /// The kernel with a row for each channel; empty without a convolution.
  StoredMatrix kernel_rows() const noexcept {
    return present() ? StoredMatrix(ConstMatrix{kernel.data(), n_channels(), width, width})
                     : StoredMatrix();
  }
};

/// What a layer adds, after the MLP, from each token's own embedding for it:
/// x += norm((act(x · gate) ∘ p) · projection), with p [e] for the token and the layer (Gemma 3n
/// and 4).
struct LayerInput {
  Projection gate;        // [d_model, e]
  Projection projection;  // [e, d_model]
  Norm norm;
  Activation activation = Activation::kGeluTanh;

  bool present() const noexcept { return !gate.weight.empty(); }
};

/// The order of a layer's parts; x is the residual stream.
enum class LayerOrder {
  kAttentionOnly,  // x + attention(x), or attention(x) when the model has no residual
  kPreNorm,        // x += n(attention(norm(x))); x += n(mlp(norm(x)))    GPT-2, Llama; n: Gemma 2;
                   // n without norm: OLMo 2
  kParallel,       // x + attention(norm(x)) + mlp(norm'(x))              GPT-NeoX
  kPostNorm,       // x = norm(x + attention(x)); x = norm(x + mlp(x))    BERT
};

/// Alternating Updates (Baykal et al. 2023): the embeddings x0 become n_streams streams [n_tokens,
/// d_model], X_0 = x0 and X_i = x0 · enter[i - 1], rescaled to the root mean square of x0. The
/// output after the last layer is the mean of X_0 and the X_i · leave[i - 1], rescaled to the root
/// mean square of X_0.
struct AltUp {
  std::vector<Projection> enter;  // [n_streams - 1], each [d_model, d_model]; empty: one stream
  std::vector<Projection> leave;  // as many, of the same shape
  std::size_t active = 0;         // the stream that layers compute with, less than n_streams()

  bool present() const noexcept { return !enter.empty(); }
  std::size_t n_streams() const noexcept { return enter.size() + 1; }
};

/// What a layer does with the streams X. With a the active stream and m(x) = tanh(norm(x) / d_model
/// · router), it predicts Y_j = X_j + Σ_i C_ji X_i, where C = m(X_a) · prediction; attention and
/// MLP compute z from Y_a; and it corrects X_j = Y_j + (1 + c_j)(z - Y_a), where c = m(z) ·
/// correction. A LayerInput reads the corrected X_a ∘ input_scale, and is added to all streams but
/// X_0.
struct AltUpLayer {
  Norm norm;              // [d_model]
  Projection router;      // [d_model, n_streams]
  Projection prediction;  // [n_streams, n_streams²]: for each predicted stream all others
  Projection correction;  // [n_streams, n_streams]
  std::span<const float> input_scale = {};  // [d_model], or empty

  bool present() const noexcept { return !router.weight.empty(); }
};

/// A learned augmented residual (Menghani et al. 2024). With y the input of attention, the stream
/// after attention is (x + attention + y + norm(y · left · right)) / √2.
struct Laurel {
  Projection left;   // [d_model, rank]
  Projection right;  // [rank, d_model]
  Norm norm;         // [d_model]

  bool present() const noexcept { return !left.weight.empty(); }
};

/// The input of a layer's heads instead of y, the input of attention: vectors that all heads share,
/// so narrow that they can be cached instead of keys and values (multi-head latent attention,
/// DeepSeek-V2 2024, section 2.1).
///
/// Queries are computed from query_norm(y · query_down), or from y itself if that is empty. Keys
/// and values are computed from c = key_norm of the first `rank` numbers of y · key_down. The
/// n_shared numbers after these are neither normed nor projected: they follow what a head computes
/// from c, and are the last dimensions of every head's key.
struct Latents {
  Projection query_down;  // [d_model, query rank], or empty
  Norm query_norm;        // of [query rank]
  Projection key_down;    // [d_model, rank + n_shared]
  Norm key_norm;          // of [rank]

  bool present() const noexcept { return !key_down.weight.empty(); }
  /// 0 if queries are computed from y.
  std::size_t query_rank() const noexcept { return query_down.d_out(); }
  std::size_t rank() const noexcept { return key_norm.weight.size(); }
  std::size_t n_shared() const noexcept { return key_down.d_out() - rank(); }
};

/// How a router's outputs z = x · gate, one for each expert, become factors.
enum class RouterKind {
  kSoftmax,        // softmax over all experts (Fedus et al. 2022)
  kChosenSoftmax,  // softmax over the chosen ones, chosen by z itself (Mixtral, Jiang et al. 2024)
  kSigmoid,        // the sigmoid of each (DeepSeek-V3 2024)
};

/// Chooses each token's experts and the factors of their outputs.
struct Router {
  Projection gate;  // [d_model, n_experts]
  RouterKind kind = RouterKind::kSoftmax;
  std::size_t n_used = 0;  // experts per token, at most n_experts
  // [n_experts], or empty: added when experts are chosen, but not to their factors.
  std::span<const float> choice_bias = {};
  // Consecutive experts form n_groups groups of equal size, of which n_used_groups are considered:
  // those with the largest sum of their n_group_best best experts (DeepSeek-V2 2024). 1: no groups.
  std::size_t n_groups = 1;
  std::size_t n_used_groups = 1;
  std::size_t n_group_best = 1;
  bool normed = false;                       // factors are scaled to add up to 1, before `scale`
  float scale = 1.0f;                        // of the factors
  std::span<const float> expert_scale = {};  // [n_experts]: one more for each expert, or empty
  Norm norm = {};  // of the stream, which the router then reads (Gemma 4); absent: the MLP's input

  std::size_t n_experts() const noexcept { return gate.d_out(); }
};

/// A matrix of MXFP4 numbers as in OpenAI's files: for each stored row, blocks of 16 bytes for 32
/// numbers (two consecutive numbers per byte) and a scale byte for each block. Scales are stored
/// apart from their blocks (Hugging Face) or before each block (Ollama).
struct SplitBlocks {
  const std::uint8_t* blocks = nullptr;
  const std::uint8_t* scales = nullptr;
  std::size_t block_step = 16;  // bytes from one to the next
  std::size_t scale_step = 1;
};

/// Added for each token beside, or instead of, an MLP that all tokens share: Σ factor · expert(x).
struct Experts {
  Router router;
  std::vector<Mlp> each;  // compute with at()
  // Hold the numbers of `each`, whose matrices then have only shapes; or empty.
  std::vector<SplitBlocks> split_up = {}, split_down = {};
  Projection shared_gate = {};  // [d_model, 1]: the shared MLP times σ(x · shared_gate); or empty
  // For experts that work on a narrower stream: [d_model, d] and [d, d_model], or empty. They read
  // x · latent_in, and (Σ factor · expert) · latent_out is added (Nemotron 3, NVIDIA 2025).
  Projection latent_in = {}, latent_out = {};
  // For layers whose experts are separate from the shared MLP (Gemma 4): n'(mlp(y)) + after_norm(Σ
  // factor · expert(norm(x))), where x is the stream. Absent: experts read y.
  Norm norm = {}, after_norm = {};
  Norm after_shared_norm = {};  // n'

  bool present() const noexcept { return !each.empty(); }

  /// Memory in which blocks and scales are combined.
  struct Memory {
    std::vector<std::uint8_t> up, down;
  };
  /// Returns one expert with its numbers: views into the file, or into `memory`, if its blocks are
  /// split.
  Mlp at(std::size_t expert, Memory& memory) const;
};

}  // namespace attnviz
