#include "attnviz/analysis/heads/value_norms.h"

#include <algorithm>
#include <cmath>

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

void write_norms(const LayerWeights& layer, const HeadValues& head, MatrixBuffer& transformed,
                 std::vector<double>& norms) {
  ConstMatrix values = head.values;
  if (const StoredMatrix output = head_output(layer, head.head); !output.empty()) {
    const Matrix all = shaped(transformed, values.rows, output.cols);
    kernels::matmul(values, output, {}, all);
    values = all;
  }
  norms.resize(values.rows);
  for (std::size_t token = 0; token < values.rows; ++token) {
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
    norms_[head];
  }
}

void ValueNorms::values(std::size_t layer, std::span<const HeadValues> heads) {
  transformed_.resize(std::max<std::size_t>(n_threads_, 1));
  parallel_for(heads.size(), n_threads_, [&](std::size_t item, std::size_t thread) {
    write_norms(model_.layers[layer], heads[item], transformed_[thread],
                norms_.at({layer, heads[item].head}));
  });
}

}  // namespace attnviz
