#include "support/naive.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnviz::test {

std::vector<float> random_values(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
  }
  return values;
}

ConstMatrix matrix_over(const std::vector<float>& values, std::size_t rows, std::size_t cols) {
  return {values.data(), rows, cols, cols};
}

std::vector<double> naive_matmul(ConstMatrix x, ConstMatrix w, const std::vector<float>& bias) {
  std::vector<double> out(x.rows * w.cols);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = 0; j < w.cols; ++j) {
      double sum = bias.empty() ? 0.0 : bias[j];
      for (std::size_t k = 0; k < w.rows; ++k) {
        sum += static_cast<double>(x(i, k)) * static_cast<double>(w(k, j));
      }
      out[i * w.cols + j] = sum;
    }
  }
  return out;
}

std::vector<double> naive_pattern(ConstMatrix query, ConstMatrix key, double scale,
                                  const Mask& mask) {
  std::vector<double> out(query.rows * key.rows, 0.0);
  for (std::size_t q = 0; q < query.rows; ++q) {
    std::vector<double> scores(key.rows, -std::numeric_limits<double>::infinity());
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < key.rows; ++k) {
      if (!mask.visible(q, k)) {
        continue;
      }
      double dot = 0.0;
      for (std::size_t i = 0; i < query.cols; ++i) {
        dot += static_cast<double>(query(q, i)) * static_cast<double>(key(k, i));
      }
      scores[k] = dot * scale;
      largest = std::max(largest, scores[k]);
    }
    double sum = 0.0;
    for (std::size_t k = 0; k < key.rows; ++k) {
      sum += mask.visible(q, k) ? std::exp(scores[k] - largest) : 0.0;
    }
    for (std::size_t k = 0; k < key.rows; ++k) {
      if (mask.visible(q, k)) {
        out[q * key.rows + k] = std::exp(scores[k] - largest) / sum;
      }
    }
  }
  return out;
}

}  // namespace attnviz::test
