// Rows of numbers: copying, normalisation, activation, rotation, mixing and pooling; scores and
// softmax; sums of logarithms and random numbers.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "attnviz/core/random_bits.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"

namespace attnviz::kernels {

/// to = from, of the same shape; no overlap. With `stream`, stores bypass the caches, which is
/// faster for data that is read again much later; all threads see them when the call returns.
void copy(ConstMatrix from, Matrix to, bool stream) noexcept;

/// Waits until this thread's stores past the caches have arrived. A thread that sees a later store
/// of this thread then sees these, too.
void flush_streams() noexcept;

/// Over the shares w that are not 0: the sum of -w log2 w, the sum of -m log2 m with m = (w + even)
/// / 2, and their number. In double precision; the last bits depend on the SIMD target.
struct EntropySums {
  double bits = 0.0;
  double mixed_bits = 0.0;
  std::size_t count = 0;
};

/// `shares` >= 0 and finite, `even` > 0.
EntropySums entropy_sums(std::span<const double> shares, double even) noexcept;

/// Returns ln of the sum of e^x. In double precision, as above. `x` is finite, and not empty.
double log_sum_exp(std::span<const float> x) noexcept;

/// Returns KL(p ‖ q), the sum of p ln(p / q), of the softmaxes p and q of two rows of logits, x and
/// y, of equal length; each is passed with its log_sum_exp(). In double precision: equal rows give
/// exactly 0; others may give slightly less by rounding.
double divergence(std::span<const float> x, double log_sum_x, std::span<const float> y,
                  double log_sum_y) noexcept;

/// out[i] = (2 b + 1 - 2^24) / 2^24 * bound for the upper 24 bits b of random[i]: uniform in
/// (-bound, bound), symmetric around 0, with the same bits on every target.
void fill_uniform(const RandomBits& random, float bound, std::span<float> out) noexcept;

// Activation functions.

enum class Activation {
  kGelu,         ///< x · Φ(x), with Φ of the normal distribution
  kGeluTanh,     ///< x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
  kSilu,         ///< x / (1 + e^-x)
  kRelu,         ///< max(x, 0)
  kReluSquared,  ///< max(x, 0)²
  kTanh,
  kSigmoid,  ///< 1 / (1 + e^-x)
};

/// x = f(x), element by element, with an error of at most 2e-6, relative where the exact value is
/// above 1. NaN stays NaN, and infinities give the limits.
void activate(Activation activation, Matrix x) noexcept;

/// gate = f(gate) · up, element by element. Same shape; no overlap.
void activate_gated(Activation activation, ConstMatrix up, Matrix gate) noexcept;

/// gate = g · σ(1.702 g) · (u + 1), with g = min(gate, limit) and u = up clamped to [-limit,
/// limit]; limit > 0. Source: gpt-oss (OpenAI 2025), its reference implementation. Same shape; no
/// overlap.
void activate_limited(float limit, ConstMatrix up, Matrix gate) noexcept;

/// x = cap · tanh(factor · x / cap), for scores, whose softmax then takes factor 1, and for logits.
/// cap > 0. Source: Gemma 2 (Gemma Team 2024), section 2, "logit soft-capping".
void soft_cap(std::span<float> x, float cap, float factor = 1.0f) noexcept;

// Scores, and weighted sums of values, for a block of queries of one head.

/// scores(i, j) = query_i · key_(first_key + j) for the keys j of ranges[i], and possibly for
/// others near them; the rest of `scores` is unchanged. query [n_rows, d_head], one range per row,
/// scores [n_rows, whole panels]; first_key is a multiple of KeyPanels::kKeys. No overlap.
///
/// Every score is one sum over the dimensions in order: its bits do not depend on the other scores.
void attention_scores(ConstMatrix query, const KeyPanels& keys, std::span<const KeyRange> ranges,
                      std::size_t first_key, Matrix scores) noexcept;

/// context_i = sum over the keys j of ranges[i] of weights(i, j) · value_(first_key + j), in order.
/// weights [n_rows, n], value [n_keys, d_value], context [n_rows, d_value]. Between the first and
/// the last key of all ranges, weights outside their row's range must be 0 and their values finite.
/// The bits of a context, except the sign of 0, do not depend on the other contexts.
void mix_values(ConstMatrix weights, ConstMatrix value, std::span<const KeyRange> ranges,
                std::size_t first_key, Matrix context) noexcept;

// Normalisation of rows. Rotary position embedding. The states of linear attention, one token at a
// time.

/// out = (x - mean) / sqrt(variance + epsilon) · weight + bias, row by row, where the variance
/// divides by n, not n - 1. x, out [n, d], the same matrix or without overlap; weight [d]; bias [d]
/// or empty. Source: Ba et al. 2016, eq. 4.
///
/// Sums are doubles, so that a mean much larger than the deviation costs no digits.
void layer_norm(ConstMatrix x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, Matrix out) noexcept;

/// out = x / sqrt(mean of x² + epsilon) · (weight + weight_offset), row by row. Shapes as above.
/// Gemma stores weights as differences from 1: weight_offset is 1 there, and 0 elsewhere. Source:
/// Zhang and Sennrich 2019, eq. 4.
void rms_norm(ConstMatrix x, std::span<const float> weight, float weight_offset, double epsilon,
              Matrix out) noexcept;

/// Returns Σ x² in doubles, in an order that depends only on x.size().
double sum_of_squares(std::span<const float> x) noexcept;

/// Which two dimensions of a head are rotated together, among the m pairs that rotate.
enum class RopePairing {
  kHalves,      ///< (i, i + m): Llama, GPT-NeoX
  kNeighbours,  ///< (2i, 2i + 1): GPT-J, and Su et al. 2021, eq. 34
};

/// Returns the dimensions of pair i of n_pairs, in order.
constexpr std::pair<std::size_t, std::size_t> rope_pair(RopePairing pairing, std::size_t i,
                                                        std::size_t n_pairs) noexcept {
  return pairing == RopePairing::kHalves ? std::pair(i, i + n_pairs) : std::pair(2 * i, 2 * i + 1);
}

/// Rotations of neighbouring positions, for all heads: row r holds the cosines, then the sines, of
/// (first_position + r) · frequencies[i], times `factor` (1 except with YaRN scaling). table
/// [n_positions, 2 · frequencies.size()]. Angles are doubles.
void rope_table(std::size_t first_position, std::span<const double> frequencies, double factor,
                Matrix table) noexcept;

/// Rotates row r of x by row r of a rope_table, in place. x [table.rows, d_head], where d_head is
/// at least table.cols; dimensions past table.cols are unchanged.
void rope_rotate(ConstMatrix table, RopePairing pairing, Matrix x) noexcept;

/// Rotates pairs (i, i + d_head/2) of each row by position · base^(-2i/d_head); an odd last
/// dimension is unchanged. x [n, d_head] in place; row r has position first_position + r.
void rope(Matrix x, std::size_t first_position, float base) noexcept;

/// out = x S. state [n, m], x [n], out [m], no overlap.
void read_state(ConstMatrix state, std::span<const float> x, std::span<float> out) noexcept;

/// S ← decay · S + kᵀ w, then out = q S. state [n, m], k and q [n], w and out [m], no overlap.
void write_state(float decay, std::span<const float> k, std::span<const float> w,
                 std::span<const float> q, Matrix state, std::span<float> out) noexcept;

// Combines rows of weights into the cells of an image, while the rows are in cache.

/// cells[k / keys_per_cell] = the maximum of its old value and of every row's numbers for key k.
/// rows [n_rows, n]: column i is key first_key + i; `cells` begins with key 0 and covers every key
/// of the rows. keys_per_cell > 0. No NaN.
void pool_largest(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
                  std::span<float> cells) noexcept;

/// cells[k / keys_per_cell] += the sum of each row's numbers for the keys k of the cell. Shapes as
/// above; numbers are at least 0, and sum to less than 2^14 per row and cell.
///
/// The sum of one row in one cell is rounded to a multiple of 2^-36 first, and is the same whether
/// the row ends or continues with zeros. Total sums below 2^17 are therefore exact: they do not
/// depend on the order in which rows are added, or on which thread adds them.
void pool_sums(ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell,
               std::span<double> cells) noexcept;

// Softmax of rows of scores.

/// An additional logit whose weight goes to no key: a learned sink (gpt-oss, OpenAI 2025; Miller
/// 2023, "Attention Is Off By One"). Minus infinity: no sink.
struct SoftmaxSink {
  float logit = -std::numeric_limits<float>::infinity();
  std::span<float> weights = {};  // receives each row's weight on the sink; or empty
};

/// In place: x[i] = exp(factor · (x[i] - max x)) / sum over j of exp(factor · (x[j] - max x)),
/// factor in (0, 2e38]; -infinity becomes exactly 0, and a row that is all -infinity becomes zeros.
/// A weight below 1.2e-38 (2^-126, about e^-87.3), which would be subnormal, becomes 0 as well.
/// Returns false when a score is NaN or +infinity, or the largest one times the factor is not
/// finite; x is then meaningless. The sink's logit, which is not multiplied by the factor, adds one
/// more term to the sum.
bool softmax(float* x, std::size_t n, float factor, const SoftmaxSink& sink = {}) noexcept;

/// The same for each row of `rows`, over the keys of its range; column 0 is key first_key, and
/// columns outside the range become 0. A score that is -infinity, or becomes so when multiplied, is
/// an error here. Returns the first row with an error, or rows.rows.
///
/// `copy`, unless it is empty, receives every weight that is not 0 and some of the zeros; if it is
/// all zeros before, it becomes equal to `rows`. Its stores bypass the caches: call flush_streams()
/// before another thread reads it. It is meaningless after an error. With `copy`, every nonempty
/// range begins at first_key, both matrices consist of whole panels of keys, and the rows of `copy`
/// are aligned to 64 bytes.
std::size_t softmax_rows(Matrix rows, std::span<const KeyRange> ranges, std::size_t first_key,
                         float factor, Matrix copy = {}, const SoftmaxSink& sink = {}) noexcept;

/// x[i] *= factor.
void scale(std::span<float> x, float factor) noexcept;

/// Whether all values are finite.
bool all_finite(ConstMatrix x) noexcept;
inline bool all_finite(std::span<const float> x) noexcept {
  return all_finite(ConstMatrix{x.data(), 1, x.size(), x.size()});
}

}  // namespace attnviz::kernels
