#include "attnviz/attention/parts/layer_parts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

// Numbers between -1 and 1, irregular enough to expose errors in a product.
MatrixBuffer numbers(std::size_t rows, std::size_t cols, double seed) {
  MatrixBuffer matrix(rows, cols);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      const auto index = static_cast<double>(row * cols + col + 1);
      matrix.view()(row, col) = static_cast<float>(std::sin(seed + index * 1.7));
    }
  }
  return matrix;
}

struct Weights {
  MatrixBuffer gate, up, down, bias;
  Mlp mlp;

  Weights(std::size_t d_model, std::size_t d_ff, bool gated, Activation activation)
      : gate(numbers(d_model, d_ff, 1.0)),
        up(numbers(d_model, d_ff, 2.0)),
        down(numbers(d_ff, d_model, 3.0)),
        bias(numbers(1, d_model, 4.0)) {
    if (gated) {
      mlp.gate.weight = std::as_const(gate).view();
    }
    mlp.up.weight = std::as_const(up).view();
    mlp.down.weight = std::as_const(down).view();
    mlp.down.bias = std::as_const(bias).view().row(0);
    mlp.activation = activation;
  }
};

double relu(double x) {
  return std::max(x, 0.0);
}
double silu(double x) {
  return x / (1.0 + std::exp(-x));
}

// The definition, in doubles.
std::vector<double> expected_row(const Weights& weights, std::span<const float> x,
                                 double (*activation)(double)) {
  const auto product = [](const std::vector<double>& row, ConstMatrix w, std::size_t col) {
    double sum = 0.0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      sum += row[i] * static_cast<double>(w(i, col));
    }
    return sum;
  };
  const std::vector<double> row(x.begin(), x.end());
  const bool gated = !weights.mlp.gate.weight.empty();
  std::vector<double> hidden(weights.up.cols());
  for (std::size_t col = 0; col < hidden.size(); ++col) {
    const double up = product(row, weights.up.view(), col);
    hidden[col] = gated ? activation(product(row, weights.gate.view(), col)) * up : activation(up);
  }
  std::vector<double> out(weights.down.cols());
  for (std::size_t col = 0; col < out.size(); ++col) {
    out[col] = product(hidden, weights.down.view(), col) +
               static_cast<double>(weights.bias.view()(0, col));
  }
  return out;
}

}  // namespace

TEST_CASE("mlp: with and without a gate, added or not, agrees with the formula") {
  constexpr float kBefore = 7.0f;
  for (const bool gated : {false, true}) {
    for (const bool add : {false, true}) {
      const Weights weights(5, 401, gated, gated ? Activation::kSilu : Activation::kRelu);
      const MatrixBuffer x = numbers(3, 5, 5.0);
      MatrixBuffer out(3, 5);
      std::fill_n(out.view().data, 15, kBefore);
      MlpMemory memory;
      run_mlp(weights.mlp, x.view(), add, 2, memory, out.view());
      for (std::size_t row = 0; row < out.rows(); ++row) {
        const std::vector<double> expected =
            expected_row(weights, x.view().row(row), gated ? silu : relu);
        for (std::size_t col = 0; col < expected.size(); ++col) {
          const double wanted = expected[col] + (add ? static_cast<double>(kBefore) : 0.0);
          CHECK(static_cast<double>(out.view()(row, col)) == doctest::Approx(wanted).epsilon(2e-5));
        }
      }
    }
  }
}

TEST_CASE("mlp: alternating gate and up columns give what two matrices give") {
  constexpr std::size_t kModel = 104;  // enough multiply-adds for several threads
  constexpr std::size_t kWidth = 401;
  const Weights apart(kModel, kWidth, /*gated=*/true, Activation::kSilu);
  MatrixBuffer both(kModel, 2 * kWidth);
  for (std::size_t row = 0; row < kModel; ++row) {
    for (std::size_t col = 0; col < kWidth; ++col) {
      both.view()(row, 2 * col) = apart.gate.view()(row, col);
      both.view()(row, 2 * col + 1) = apart.up.view()(row, col);
    }
  }
  Mlp mlp = apart.mlp;
  mlp.gate = {};
  mlp.up.weight = std::as_const(both).view();
  mlp.interleaved = true;
  const MatrixBuffer x = numbers(200, kModel, 5.0);
  for (const std::size_t n_threads : {std::size_t{1}, std::size_t{3}}) {
    MatrixBuffer out(x.rows(), kModel);
    MlpMemory memory;
    run_mlp(mlp, x.view(), /*add=*/false, n_threads, memory, out.view());
    for (std::size_t row = 0; row < out.rows(); ++row) {
      const std::vector<double> expected = expected_row(apart, x.view().row(row), silu);
      for (std::size_t col = 0; col < expected.size(); ++col) {
        CHECK(std::abs(static_cast<double>(out.view()(row, col)) - expected[col]) < 1e-3);
      }
    }
  }
}

TEST_CASE("mlp: a hidden layer computed in parts is bit-identical") {
  constexpr std::size_t kTokens = 2500;
  constexpr std::size_t kPart = 700;
  const MatrixBuffer x = numbers(kTokens, 4, 6.0);
  for (const bool gated : {false, true}) {
    const Weights weights(4, 8192, gated, Activation::kGelu);
    CHECK(mlp_bytes(weights.mlp, kTokens) <= 64e6);
    CHECK(mlp_bytes(weights.mlp, kTokens) < 4.0 * 8192.0 * kTokens);
    CHECK(mlp_bytes(weights.mlp, kPart) == 4.0 * 8192.0 * kPart);
    MatrixBuffer whole(kTokens, 4);
    MlpMemory memory;
    run_mlp(weights.mlp, x.view(), false, 3, memory, whole.view());
    MatrixBuffer part(kPart, 4);
    for (const std::size_t first : {std::size_t{0}, kTokens - kPart}) {
      run_mlp(weights.mlp, x.view().row_block(first, kPart), false, 1, memory, part.view());
      const float* const same = whole.view().row_data(first);
      CHECK(std::equal(part.view().data, part.view().data + kPart * 4, same));
    }
  }
}

TEST_CASE("mlp: about the requested share of sparse gates is 0, for every token alike") {
  for (const double share : {0.05, 0.5, 0.95}) {
    CAPTURE(share);
    constexpr std::size_t kWidth = 1001;
    Weights weights(3, kWidth, /*gated=*/true, Activation::kRelu);
    weights.mlp.sparsity = share;
    const MatrixBuffer x = numbers(200, 3, 5.0);
    MatrixBuffer expected(x.rows(), 3);
    const double quantile = share == 0.5  ? 0.0
                            : share < 0.5 ? -1.6448536269514722
                                          : 1.6448536269514722;
    for (std::size_t row = 0; row < x.rows(); ++row) {
      std::vector<double> gates(kWidth);
      double mean = 0.0;
      for (std::size_t col = 0; col < kWidth; ++col) {
        for (std::size_t i = 0; i < 3; ++i) {
          gates[col] += static_cast<double>(x.view()(row, i)) *
                        static_cast<double>(weights.gate.view()(i, col));
        }
        mean += gates[col] / kWidth;
      }
      double variance = 0.0;
      for (const double gate : gates) {
        variance += (gate - mean) * (gate - mean) / kWidth;
      }
      std::vector<double> result(3);
      for (std::size_t col = 0; col < kWidth; ++col) {
        double up = 0.0;
        for (std::size_t i = 0; i < 3; ++i) {
          up += static_cast<double>(x.view()(row, i)) *
                static_cast<double>(weights.up.view()(i, col));
        }
        const double gate = relu(gates[col] - mean - quantile * std::sqrt(variance));
        for (std::size_t i = 0; i < 3; ++i) {
          result[i] += gate * up * static_cast<double>(weights.down.view()(col, i));
        }
      }
      for (std::size_t i = 0; i < 3; ++i) {
        expected.view()(row, i) =
            static_cast<float>(result[i] + static_cast<double>(weights.bias.view()(0, i)));
      }
    }
    for (const std::size_t n_threads : {std::size_t{1}, std::size_t{2}}) {
      MatrixBuffer out(x.rows(), 3);
      MlpMemory memory;
      run_mlp(weights.mlp, x.view(), /*add=*/false, n_threads, memory, out.view());
      for (std::size_t row = 0; row < x.rows(); ++row) {
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(out.view()(row, i) == doctest::Approx(expected.view()(row, i)).epsilon(1e-4));
        }
      }
    }
  }
}

}  // namespace attnviz
