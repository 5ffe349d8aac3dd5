// Plain double-precision loops that the tests trust, and seeded values to feed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/mask.h"

namespace attnviz::test {

/// n values in [-1, 1), the same for the same seed on every machine.
std::vector<float> random_values(std::size_t n, std::uint64_t seed);

/// A dense matrix over `values`, [rows, cols].
ConstMatrix matrix_over(const std::vector<float>& values, std::size_t rows, std::size_t cols);

/// x · w (+ bias when not empty), in double precision, [x.rows, w.cols].
std::vector<double> naive_matmul(ConstMatrix x, ConstMatrix w, const std::vector<float>& bias = {});

/// Softmax weights of one head, [query.rows, key.rows]: softmax over visible keys of scale · q·k;
/// masked weights 0; rows that see nothing are 0.
std::vector<double> naive_pattern(ConstMatrix query, ConstMatrix key, double scale,
                                  const Mask& mask);

}  // namespace attnviz::test
