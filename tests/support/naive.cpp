#include "support/naive.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "attnviz/kernels/stored_numbers.h"

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

PoisonedMatrix::PoisonedMatrix(std::size_t rows, std::size_t cols)
    : rows_(rows), cols_(cols), values_(rows * (cols + kPadding), kPoison) {}

bool PoisonedMatrix::padding_is_untouched() const noexcept {
  for (std::size_t r = 0; r < rows_; ++r) {
    const auto row_end =
        values_.begin() + static_cast<std::ptrdiff_t>((r + 1) * (cols_ + kPadding));
    if (std::count(row_end - kPadding, row_end, kPoison) != kPadding) {
      return false;
    }
  }
  return true;
}

float value(const StoredMatrix& matrix, std::size_t row, std::size_t col) {
  float number = 0.0f;
  copy_row(matrix.col_block(col, 1), row, {&number, 1});
  return number;
}

double largest_difference(ConstMatrix actual, const std::vector<double>& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (actual.rows * actual.cols != expected.size()) {
    return kInfinity;
  }
  double largest = 0.0;
  for (std::size_t r = 0; r < actual.rows; ++r) {
    for (std::size_t c = 0; c < actual.cols; ++c) {
      const double difference =
          std::abs(static_cast<double>(actual(r, c)) - expected[r * actual.cols + c]);
      if (std::isnan(difference)) {
        return kInfinity;
      }
      largest = std::max(largest, difference);
    }
  }
  return largest;
}

bool same_bits(ConstMatrix a, ConstMatrix b) {
  if (a.rows != b.rows || a.cols != b.cols) {
    return false;
  }
  for (std::size_t r = 0; r < a.rows; ++r) {
    if (std::memcmp(a.row_data(r), b.row_data(r), a.cols * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
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
