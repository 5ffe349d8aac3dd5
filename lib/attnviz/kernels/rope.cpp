#include "attnviz/kernels/rope.h"

#include <cmath>

namespace attnviz::kernels {

void rope(Matrix x, std::size_t first_position, float base) noexcept {
  const std::size_t half = x.cols / 2;
  for (std::size_t i = 0; i < half; ++i) {
    // Angles are doubles: at position 100,000 a float angle is off by a hundredth of a radian.
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(x.cols);
    const double frequency = std::pow(static_cast<double>(base), exponent);
    for (std::size_t r = 0; r < x.rows; ++r) {
      const double angle = static_cast<double>(first_position + r) * frequency;
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      float* row = x.row_data(r);
      const float first = row[i];
      const float second = row[i + half];
      row[i] = first * cosine - second * sine;
      row[i + half] = first * sine + second * cosine;
    }
  }
}

}  // namespace attnviz::kernels
