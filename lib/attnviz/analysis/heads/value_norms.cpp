#include "attnviz/analysis/heads/value_norms.h"

#include <algorithm>
#include <cmath>

#include "attnviz/attention/layer.h"
#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

StoredMatrix head_output(const LayerWeights& layer, std::size_t head) {
  std::size_t first_row = 0;
  for (std::size_t i = 0; i < head; ++i) {
    first_row += layer.heads[i].d_value();
  }
  const HeadWeights& weights = layer.heads[head];
  return layer.output.weight.empty() ? weights.output
                                     : layer.output.weight.row_block(first_row, weights.d_value());
}

namespace {

void transformed_norms(const LayerWeights& layer, std::size_t head, ConstMatrix look,
                       ValueNorms::Scratch& scratch, std::vector<double>& norms) {
  const Projection& value = layer.heads[head].value;
  Matrix values = shaped(scratch.values, look.rows, value.d_out());
  kernels::matmul(look, value.weight, value.bias, values);
  if (const StoredMatrix output = head_output(layer, head); !output.empty()) {
    const Matrix transformed = shaped(scratch.transformed, look.rows, output.cols);
    kernels::matmul(values, output, {}, transformed);
    values = transformed;
  }
  norms.resize(look.rows);
  for (std::size_t token = 0; token < look.rows; ++token) {
    double square = 0.0;
    for (const float number : values.row(token)) {
      square += static_cast<double>(number) * static_cast<double>(number);
    }
    norms[token] = std::sqrt(square);
  }
}

}  // namespace

ValueNorms::ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
                       PatternSink& patterns)
    : RunObserver(patterns), model_(model), n_threads_(n_threads) {
  for (const HeadId head : heads) {
    heads_of_[head.layer].push_back(head);
    norms_[head];
  }
}

void ValueNorms::stream(const RunPlace& at, ConstMatrix x) {
  const LayerWeights& layer = model_.layers[at.layer];
  const ConstMatrix look = attention_input(model_, at.layer, x, n_threads_, memory_);
  const std::vector<HeadId>& heads = heads_of_.at(at.layer);
  scratch_.resize(std::max<std::size_t>(n_threads_, 1));
  parallel_for(heads.size(), n_threads_, [&](std::size_t item, std::size_t thread) {
    transformed_norms(layer, heads[item].head, look, scratch_[thread], norms_.at(heads[item]));
  });
}

}  // namespace attnviz
