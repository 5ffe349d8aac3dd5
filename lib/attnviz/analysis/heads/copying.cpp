#include "attnviz/analysis/heads/score_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <complex>
#include <map>
#include <numeric>
#include <utility>

// The matrices are small, and only the kernels use vector instructions.
#define EIGEN_DONT_VECTORIZE
#include <Eigen/Eigenvalues>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

bool has_direct_path(const Model& model) noexcept {
  const LayerOrder order = model.config.order;
  return !model.embeddings.empty() && !model.head.unembedding.weight.empty() &&
         model.head.transform.weight.empty() && !model.embedding_norm.present() &&
         !model.altup.present() && model.head.projection.weight.empty() &&
         model.embedding_projection.weight.empty() &&
         (order == LayerOrder::kPreNorm || order == LayerOrder::kParallel);
}

// W_U W_E [d_model, d_model], computed for part of the vocabulary at a time.
MatrixBuffer vocabulary_product(const Model& model, std::size_t n_threads) {
  constexpr std::size_t kTokens = 1024;
  const StoredMatrix& embed = model.embeddings;
  const StoredMatrix& unembed = model.head.unembedding.weight;
  const std::size_t n_vocab = std::min(embed.rows, unembed.cols);
  MatrixBuffer product(unembed.rows, embed.cols);
  for (std::size_t first = 0; first < n_vocab; first += kTokens) {
    const std::size_t count = std::min(kTokens, n_vocab - first);
    const MatrixBuffer from = to_floats(unembed.col_block(first, count));
    const MatrixBuffer to = to_floats(embed.row_block(first, count));
    blocked_product_add(from.view(), {to.view(), {}}, n_threads, product.view());
  }
  return product;
}

float weight_of(const Norm& norm, std::size_t i) noexcept {
  return norm.weight[i] + norm.weight_offset;
}

double mean_of(std::span<const float> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// Folds a norm into a factor that multiplies x from the right: x is replaced by its norm, except
// for the scale.
void fold_before(const Norm& norm, Matrix x) {
  if (!norm.present()) {
    return;
  }
  std::vector<double> means(x.cols);
  for (std::size_t row = 0; row < x.rows; ++row) {
    for (std::size_t col = 0; col < x.cols; ++col) {
      x(row, col) *= weight_of(norm, row);
      means[col] += static_cast<double>(x(row, col)) / static_cast<double>(x.rows);
    }
  }
  for (std::size_t row = 0; row < x.rows && norm.kind == NormKind::kLayer; ++row) {
    for (std::size_t col = 0; col < x.cols; ++col) {
      x(row, col) -= static_cast<float>(means[col]);
    }
  }
}

// Folds a norm into the rows that it reads.
void fold_after(const Norm& norm, Matrix x) {
  for (std::size_t row = 0; row < x.rows && norm.present(); ++row) {
    const double mean = norm.kind == NormKind::kLayer ? mean_of(x.row(row)) : 0.0;
    for (std::size_t col = 0; col < x.cols; ++col) {
      x(row, col) = (x(row, col) - static_cast<float>(mean)) * weight_of(norm, col);
    }
  }
}

// W_U W_E between what one layer's heads write and what they read; values may be read in another
// layer.
MatrixBuffer folded(ConstMatrix product, const LayerWeights& layer, const LayerWeights& of_values) {
  MatrixBuffer result = to_floats(product);
  fold_before(layer.after_attention_norm, result.view());
  fold_after(of_values.attention_norm, result.view());
  if (const Latents& latents = of_values.latents; latents.present()) {
    MatrixBuffer narrow(result.rows(), latents.rank());
    kernels::matmul(std::as_const(result).view(),
                    latents.key_down.weight.col_block(0, latents.rank()), {}, narrow.view());
    fold_after(latents.key_norm, narrow.view());
    return narrow;
  }
  return result;
}

// The score for x [n, n], whose numbers are finite.
std::optional<double> copying_of(ConstMatrix x) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto n = static_cast<Eigen::Index>(x.rows);
  const Eigen::MatrixXd numbers = Eigen::Map<const Rows>(x.data, n, n).cast<double>();
  const Eigen::VectorXcd eigenvalues =
      Eigen::EigenSolver<Eigen::MatrixXd>(numbers, /*computeEigenvectors=*/false).eigenvalues();
  const double sum = eigenvalues.cwiseAbs().sum();
  return sum > 0.0 ? std::optional(eigenvalues.sum().real() / sum) : std::nullopt;
}

std::optional<double> score_head(const Model& model, HeadId id, const StoredMatrix& w_output,
                                 ConstMatrix between) {
  const StoredMatrix& value = model.layers[id.layer].heads[id.head].value.weight;
  MatrixBuffer read(between.rows, value.cols);
  kernels::matmul(between, value, {}, read.view());
  const MatrixBuffer output = to_floats(w_output);
  MatrixBuffer all(output.rows(), value.cols);
  kernels::matmul(output.view(), std::as_const(read).view(), {}, all.view());
  if (!kernels::all_finite(std::as_const(all).view())) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: head {}: a number of W_O W_U W_E W_V is not finite (weights too "
                            "large?)",
                            model.config.name, head_name(id)));
  }
  return copying_of(std::as_const(all).view());
}

}  // namespace

std::vector<std::optional<double>> copying_scores(const Model& model,
                                                  const std::vector<HeadId>& heads,
                                                  std::size_t n_threads) {
  if (!has_direct_path(model)) {
    return {};
  }
  MatrixBuffer product = vocabulary_product(model, n_threads);
  fold_before(model.head.norm, product.view());
  std::vector<std::optional<double>> scores(heads.size());
  std::map<std::size_t, std::vector<std::size_t>> by_layer;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    by_layer[heads[i].layer].push_back(i);
  }
  for (const auto& one : by_layer) {
    const LayerWeights& layer = model.layers[one.first];
    const std::vector<std::size_t>& places = one.second;
    const MatrixBuffer between = folded(std::as_const(product).view(), layer,
                                        model.layers[layer.keys_from.value_or(one.first)]);
    const std::vector<StoredMatrix> outputs = head_outputs(layer);
    parallel_for(places.size(), n_threads, [&](std::size_t item, std::size_t /*thread*/) {
      const std::size_t i = places[item];
      scores[i] = score_head(model, heads[i], outputs[heads[i].head], between.view());
    });
  }
  return scores;
}

}  // namespace attnviz
