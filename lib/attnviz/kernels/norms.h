// Normalisation of rows.
#pragma once

#include <span>

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

}  // namespace attnviz::kernels
