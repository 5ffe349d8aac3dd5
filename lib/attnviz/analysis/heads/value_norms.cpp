#include "attnviz/analysis/heads/value_norms.h"

#include <algorithm>
#include <cmath>

#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/layer_kernels.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

void write_norms(ConstMatrix values, const StoredMatrix& output, MatrixBuffer& transformed,
                 std::vector<double>& norms) {
  if (!output.empty()) {
    const Matrix all = shaped(transformed, values.rows, output.cols);
    kernels::matmul(values, output, {}, all);
    values = all;
  }
  norms.resize(values.rows);
  for (std::size_t token = 0; token < values.rows; ++token) {
    norms[token] = std::sqrt(kernels::sum_of_squares(values.row(token)));
  }
}

}  // namespace

bool has_output_gates(const Model& model) noexcept {
  return std::ranges::any_of(model.layers, [](const LayerWeights& layer) {
    return !layer.heads.empty() && !layer.heads.front().output_gate.weight.empty();
  });
}

ValueNorms::ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
                       PatternSink& patterns)
    : RunObserver(patterns), model_(model), n_threads_(n_threads) {
  for (const HeadId head : heads) {
    norms_[head];
  }
}

void ValueNorms::values(std::size_t layer, std::span<const HeadValues> heads) {
  const std::vector<StoredMatrix> outputs = head_outputs(model_.layers[layer]);
  transformed_.resize(std::max<std::size_t>(n_threads_, 1));
  parallel_for(heads.size(), n_threads_, [&](std::size_t item, std::size_t thread) {
    const HeadValues& head = heads[item];
    write_norms(head.values, outputs[head.head], transformed_[thread],
                norms_.at({layer, head.head}));
  });
}

}  // namespace attnviz
