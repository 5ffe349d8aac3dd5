// Normalisation of rows. Rotary position embedding. The states of linear attention, one token at a
// time.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// out = (x - mean) / sqrt(variance + epsilon) · weight + bias, row by row, with the variance of
/// the whole row: no n - 1. x, out [n, d], the same matrix or without overlap; weight [d]; bias [d]
/// or empty. Source: Ba et al. 2016, eq. 4.
///
/// Sums are doubles: a mean that is large beside the deviation costs no digits.
void layer_norm(ConstMatrix x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, Matrix out) noexcept;

/// out = x / sqrt(mean of x² + epsilon) · (weight + weight_offset), row by row. Shapes as above.
/// Gemma's weights are kept as differences from 1: weight_offset 1; it is 0 elsewhere. Source:
/// Zhang and Sennrich 2019, eq. 4.
void rms_norm(ConstMatrix x, std::span<const float> weight, float weight_offset, double epsilon,
              Matrix out) noexcept;

/// Σ x² in doubles, in an order that depends on x.size() only.
double sum_of_squares(std::span<const float> x) noexcept;

/// Which two dimensions of a head turn together, of the m pairs that turn.
enum class RopePairing {
  kHalves,      ///< (i, i + m): Llama, GPT-NeoX
  kNeighbours,  ///< (2i, 2i + 1): GPT-J, and Su et al. 2021, eq. 34
};

/// Pair i of n_pairs, in its order.
constexpr std::pair<std::size_t, std::size_t> rope_pair(RopePairing pairing, std::size_t i,
                                                        std::size_t n_pairs) noexcept {
  return pairing == RopePairing::kHalves ? std::pair(i, i + n_pairs) : std::pair(2 * i, 2 * i + 1);
}

/// The turns of some neighbouring positions, for all heads: row r is the cosines, then the sines,
/// of (first_position + r) · frequencies[i], times `factor` (1 but with YaRN scaling). table
/// [n_positions, 2 · frequencies.size()]. Angles are doubles.
void rope_table(std::size_t first_position, std::span<const double> frequencies, double factor,
                Matrix table) noexcept;

/// Turns row r of x by row r of a rope_table, in place. x [table.rows, d_head], where d_head is at
/// least table.cols; dimensions past table.cols stay.
void rope_rotate(ConstMatrix table, RopePairing pairing, Matrix x) noexcept;

/// Rotates pairs (i, i + d_head/2) of each row by position · base^(-2i/d_head); an odd last
/// dimension stays. x [n, d_head] in place; row r has position first_position + r.
void rope(Matrix x, std::size_t first_position, float base) noexcept;

/// out = x S. state [n, m], x [n], out [m], no overlap.
void read_state(ConstMatrix state, std::span<const float> x, std::span<float> out) noexcept;

/// S ← decay · S + kᵀ w, then out = q S. state [n, m], k and q [n], w and out [m], no overlap.
void write_state(float decay, std::span<const float> k, std::span<const float> w,
                 std::span<const float> q, Matrix state, std::span<float> out) noexcept;

}  // namespace attnviz::kernels
