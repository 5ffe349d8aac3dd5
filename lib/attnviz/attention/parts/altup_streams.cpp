#include "attnviz/attention/parts/layer_parts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/layer.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

double mean_square(std::span<const float> x) noexcept {
  double sum = 0.0;
  for (const float one : x) {
    sum += static_cast<double>(one) * static_cast<double>(one);
  }
  return sum / static_cast<double>(x.size());
}

// Scales each row of x in place to the length of the same row of `of`.
void take_length(ConstMatrix of, Matrix x) noexcept {
  constexpr double kLeastSquare = 1e-5;
  for (std::size_t row = 0; row < x.rows; ++row) {
    const double own = std::max(mean_square(std::as_const(x).row(row)), kLeastSquare);
    kernels::scale(x.row(row), static_cast<float>(std::sqrt(mean_square(of.row(row)) / own)));
  }
}

void add_times(float factor, std::span<const float> x, std::span<float> to) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] += factor * x[i];
  }
}

// Returns `coefficients` applied to m(x) [n_tokens, n_streams].
MatrixBuffer coefficients_of(const AltUpLayer& layer, const Projection& coefficients, ConstMatrix x,
                             std::size_t n_threads) {
  MatrixBuffer normed(x.rows, x.cols);
  apply_norm(layer.norm, x, normed.view());
  MatrixBuffer modalities(x.rows, layer.router.d_out());
  blocked_product(normed.view(), layer.router, n_threads, modalities.view());
  const auto d_model = static_cast<float>(x.cols);
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (float& one : modalities.view().row(row)) {
      one = std::tanh(one / d_model);
    }
  }
  MatrixBuffer result(x.rows, coefficients.d_out());
  blocked_product(modalities.view(), coefficients, n_threads, result.view());
  return result;
}

}  // namespace

MatrixBuffer enter_layers(const Model& model, MatrixBuffer stream, std::size_t n_threads) {
  const AltUp& altup = model.altup;
  if (!altup.present()) {
    return stream;
  }
  const ConstMatrix first = std::as_const(stream).view();
  MatrixBuffer streams(first.rows, altup.n_streams() * first.cols);
  for (std::size_t row = 0; row < first.rows; ++row) {
    std::ranges::copy(first.row(row), streams.view().row_data(row));
  }
  for (std::size_t i = 1; i < altup.n_streams(); ++i) {
    const Matrix x = stream_of(model, streams.view(), i);
    blocked_product(first, altup.enter[i - 1], n_threads, x);
    take_length(first, x);
  }
  return streams;
}

void predict_streams(const Model& model, const AltUpLayer& layer, std::size_t n_threads,
                     Matrix streams) {
  const std::size_t n = model.altup.n_streams();
  const MatrixBuffer all =
      coefficients_of(layer, layer.prediction,
                      stream_of(model, ConstMatrix(streams), model.altup.active), n_threads);
  const std::size_t d_model = model.config.d_model;
  for_each_block(streams.rows, 1, n * n * d_model, n_threads, [&](const OutputBlock& block) {
    std::vector<float> before(streams.cols);
    for (std::size_t row = block.first_row; row < block.first_row + block.n_rows; ++row) {
      const std::span<float> after = streams.row(row);
      std::ranges::copy(after, before.begin());
      const std::span<const float> factors = all.view().row(row);
      for (std::size_t to = 0; to < n; ++to) {
        for (std::size_t from = 0; from < n; ++from) {
          add_times(factors[to * n + from],
                    std::span<const float>(before).subspan(from * d_model, d_model),
                    after.subspan(to * d_model, d_model));
        }
      }
    }
  });
}

void correct_streams(const Model& model, const AltUpLayer& layer, ConstMatrix z,
                     std::size_t n_threads, Matrix streams) {
  const std::size_t n = model.altup.n_streams();
  const MatrixBuffer all = coefficients_of(layer, layer.correction, z, n_threads);
  const std::size_t d_model = model.config.d_model;
  for_each_block(streams.rows, 1, n * d_model, n_threads, [&](const OutputBlock& block) {
    std::vector<float> innovation(d_model);
    for (std::size_t row = block.first_row; row < block.first_row + block.n_rows; ++row) {
      const std::span<float> after = streams.row(row);
      std::ranges::transform(z.row(row), after.subspan(model.altup.active * d_model, d_model),
                             innovation.begin(), [](float made, float y) { return made - y; });
      for (std::size_t to = 0; to < n; ++to) {
        add_times(1.0f + all.view()(row, to), innovation, after.subspan(to * d_model, d_model));
      }
    }
  });
}

void leave_layers(const Model& model, ConstMatrix streams, std::size_t n_threads, Matrix out) {
  const AltUp& altup = model.altup;
  const ConstMatrix first = stream_of(model, streams, 0);
  MatrixBuffer turned(out.rows, out.cols);
  for (std::size_t row = 0; row < out.rows; ++row) {
    std::ranges::copy(first.row(row), out.row_data(row));
  }
  for (std::size_t i = 1; i < altup.n_streams(); ++i) {
    blocked_product(stream_of(model, streams, i), altup.leave[i - 1], n_threads, turned.view());
    take_length(first, turned.view());
    kernels::add(turned.view(), out);
  }
  for (std::size_t row = 0; row < out.rows; ++row) {
    kernels::scale(out.row(row), 1.0f / static_cast<float>(altup.n_streams()));
  }
}

MatrixBuffer laurel(const Model& model, std::size_t layer, ConstMatrix stream,
                    std::size_t n_threads) {
  const LayerWeights& weights = model.layers[layer];
  const Laurel& laurel = weights.laurel;
  MatrixBuffer look(stream.rows, stream.cols);
  apply_norm(norms_first(model, layer) ? weights.attention_norm : Norm{}, stream, look.view());
  MatrixBuffer narrow(stream.rows, laurel.left.d_out());
  blocked_product(std::as_const(look).view(), laurel.left, n_threads, narrow.view());
  MatrixBuffer result(stream.rows, stream.cols);
  blocked_product(std::as_const(narrow).view(), laurel.right, n_threads, result.view());
  apply_norm(laurel.norm, result.view(), result.view());
  kernels::add(look.view(), result.view());
  return result;
}

}  // namespace attnviz
