// Copying of rows, past the caches when they are of no use. Sums of logarithms, which entropies and
// divergences are made of. Random numbers in the order of their names, many at once.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/random_bits.h"
#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// to = from, of the same shape; no overlap. `stream`: by stores that go past the caches, which is
/// faster for what is read again much later; every thread sees them when the call returns.
void copy(ConstMatrix from, Matrix to, bool stream) noexcept;

/// What this thread stored past the caches is seen by every thread that sees what it stores next.
/// Waits until those stores have arrived.
void flush_streams() noexcept;

/// Of shares w: the sum of -w log2 w, that of -m log2 m with m = (w + even) / 2, and how many there
/// are, all three over the shares that are not 0. In double precision; the last bits depend on the
/// SIMD target.
struct EntropySums {
  double bits = 0.0;
  double mixed_bits = 0.0;
  std::size_t count = 0;
};

/// `shares` >= 0 and finite, `even` > 0.
EntropySums entropy_sums(std::span<const double> shares, double even) noexcept;

/// ln of the sum of e^x. In double precision, as above. `x` finite, and not empty.
double log_sum_exp(std::span<const float> x) noexcept;

/// KL(p ‖ q), the sum of p ln(p / q), of the softmaxes of two rows of as many logits, x and y; each
/// with its log_sum_exp(). In double precision: equal rows give exactly 0, others may give less by
/// rounding.
double divergence(std::span<const float> x, double log_sum_x, std::span<const float> y,
                  double log_sum_y) noexcept;

/// out[i] = (2 b + 1 - 2^24) / 2^24 * bound for the upper 24 bits b of random[i]: uniform in
/// (-bound, bound), symmetric around 0, with the same bits on every target.
void fill_uniform(const RandomBits& random, float bound, std::span<float> out) noexcept;

}  // namespace attnviz::kernels
