#include "attnviz/attention/logits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/parts/not_finite.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/activations.h"
#include "attnviz/kernels/softmax.h"

namespace attnviz {

MatrixBuffer run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads) {
  MatrixBuffer logits(stream.rows, model.head.unembedding.d_out());
  run_output_head(model, stream, n_threads, logits.view());
  return logits;
}

void run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads, Matrix logits) {
  const OutputHead& head = model.head;
  if (head.unembedding.weight.empty()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: the model has no output head: it predicts no tokens", model.config.name));
  }
  MatrixBuffer normed(stream.rows, stream.cols);
  apply_norm(head.norm, stream, normed.view());
  if (!head.transform.weight.empty()) {
    MatrixBuffer transformed(stream.rows, stream.cols);
    blocked_product(std::as_const(normed).view(), head.transform, n_threads, transformed.view());
    kernels::activate(head.activation, transformed.view());
    apply_norm(head.transform_norm, transformed.view(), transformed.view());
    normed = std::move(transformed);
  }
  if (!head.projection.weight.empty()) {
    MatrixBuffer projected(stream.rows, head.projection.d_out());
    blocked_product(std::as_const(normed).view(), head.projection, n_threads, projected.view());
    normed = std::move(projected);
  }
  blocked_product(std::as_const(normed).view(), head.unembedding, n_threads, logits);
  for (std::size_t row = 0; row < logits.rows && head.scale != 1.0f; ++row) {
    kernels::scale(logits.row(row), head.scale);
  }
  if (head.soft_cap > 0.0f) {
    for (std::size_t row = 0; row < logits.rows; ++row) {
      kernels::soft_cap(logits.row(row), head.soft_cap);
    }
  }
  if (!kernels::all_finite(logits)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: a logit is not a finite number ({})", model.config.name,
                            why_not_finite(model, model.n_layers())));
  }
}

std::vector<ProbableToken> most_probable(std::span<const float> logits, std::size_t count) {
  std::vector<std::uint32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), std::uint32_t{0});
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(
                                        std::min(std::max<std::size_t>(count, 1), ids.size()));
  std::partial_sort(ids.begin(), middle, ids.end(), [logits](std::uint32_t a, std::uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  const auto largest = static_cast<double>(logits[ids.front()]);
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  std::vector<ProbableToken> tokens;
  tokens.reserve(std::min(count, ids.size()));
  ids.resize(std::min(count, ids.size()));
  for (const std::uint32_t id : ids) {
    const float logit = logits[id];
    tokens.push_back({id, std::exp(static_cast<double>(logit) - largest) / sum, logit});
  }
  return tokens;
}

double log_probability(std::span<const float> logits, std::uint32_t id) {
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  return static_cast<double>(logits[id]) - largest - std::log(sum);
}

std::size_t rank_of(std::span<const float> logits, std::uint32_t id) noexcept {
  const float own = logits[id];
  std::size_t rank = 0;
  for (std::size_t other = 0; other < logits.size(); ++other) {
    rank += logits[other] > own || (logits[other] == own && other < id) ? 1u : 0u;
  }
  return rank;
}

}  // namespace attnviz
