#include "attnviz/attention/logits.h"

#include <fmt/core.h>

#include <utility>

#include "attnviz/attention/attention_block.h"
#include "attnviz/attention/blocked_product.h"
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

}  // namespace attnviz
