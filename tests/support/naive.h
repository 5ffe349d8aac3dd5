// Plain double-precision loops that the tests trust, and seeded values to feed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/mask.h"

namespace attnviz::test {

/// n values in [-1, 1), the same for the same seed on every machine.
std::vector<float> random_values(std::size_t n, std::uint64_t seed);

/// A dense matrix over `values`, [rows, cols].
ConstMatrix matrix_over(const std::vector<float>& values, std::size_t rows, std::size_t cols);

/// A matrix whose rows are farther apart than they are long, filled with poison: memory that a
/// function must not touch is still poison afterwards, and memory that it must write is not.
class PoisonedMatrix {
 public:
  PoisonedMatrix(std::size_t rows, std::size_t cols);

  Matrix view() noexcept { return {values_.data(), rows_, cols_, cols_ + kPadding}; }
  bool padding_is_untouched() const noexcept;

  static constexpr float kPoison = -12345.0f;

 private:
  static constexpr std::size_t kPadding = 3;
  std::size_t rows_;
  std::size_t cols_;
  std::vector<float> values_;
};

/// One number of a stored matrix. Precondition: in range.
float value(const StoredMatrix& matrix, std::size_t row, std::size_t col);

/// The largest |actual - expected|; infinity if the sizes differ or a value is NaN.
double largest_difference(ConstMatrix actual, const std::vector<double>& expected);

/// Whether all values are bit-identical.
bool same_bits(ConstMatrix a, ConstMatrix b);

/// x · w (+ bias when not empty), in double precision, [x.rows, w.cols].
std::vector<double> naive_matmul(ConstMatrix x, ConstMatrix w, const std::vector<float>& bias = {});

/// Softmax weights of one head, [query.rows, key.rows]: softmax over visible keys of scale · q·k;
/// masked weights 0; rows that see nothing are 0.
std::vector<double> naive_pattern(ConstMatrix query, ConstMatrix key, double scale,
                                  const Mask& mask);

inline ConstMatrix as_row(const std::vector<float>& values) {
  return matrix_over(values, 1, values.size());
}

}  // namespace attnviz::test
