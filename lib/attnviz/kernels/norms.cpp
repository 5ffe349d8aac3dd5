#include "attnviz/kernels/norms.h"

#include <cmath>

namespace attnviz::kernels {

void layer_norm(ConstMatrix x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, Matrix out) noexcept {
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto n = static_cast<double>(x.cols);
    double mean = 0.0;
    for (const float value : x.row(r)) {
      mean += static_cast<double>(value) / n;
    }
    double variance = 0.0;
    for (const float value : x.row(r)) {
      const double deviation = static_cast<double>(value) - mean;
      variance += deviation * deviation / n;
    }
    const double factor = 1.0 / std::sqrt(variance + epsilon);
    for (std::size_t c = 0; c < x.cols; ++c) {
      out(r, c) = static_cast<float>((static_cast<double>(x(r, c)) - mean) * factor) * weight[c] +
                  (bias.empty() ? 0.0f : bias[c]);
    }
  }
}

void rms_norm(ConstMatrix x, std::span<const float> weight, float weight_offset, double epsilon,
              Matrix out) noexcept {
  for (std::size_t r = 0; r < x.rows; ++r) {
    double squares = 0.0;
    for (const float value : x.row(r)) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(x.cols) + epsilon);
    for (std::size_t c = 0; c < x.cols; ++c) {
      out(r, c) = x(r, c) * static_cast<float>(factor) * (weight[c] + weight_offset);
    }
  }
}

}  // namespace attnviz::kernels
