// Rotary position embedding.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

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

}  // namespace attnviz::kernels
