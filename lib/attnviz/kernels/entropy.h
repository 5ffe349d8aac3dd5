// Sums of logarithms, which entropies and divergences are made of.
#pragma once

#include <cstddef>
#include <span>

namespace attnviz::kernels {

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

}  // namespace attnviz::kernels
