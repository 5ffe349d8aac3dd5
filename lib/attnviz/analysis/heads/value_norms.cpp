#include "attnviz/analysis/heads/value_norms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

// Several sums side by side: each addition waits for the one before it.
double sum_of_squares(std::span<const float> numbers) {
  std::array<double, 16> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= numbers.size(); i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      const auto number = static_cast<double>(numbers[i + lane]);
      sums[lane] += number * number;
    }
  }
  for (; i < numbers.size(); ++i) {
    sums[0] += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void write_norms(ConstMatrix values, const StoredMatrix& output, MatrixBuffer& transformed,
                 std::vector<double>& norms) {
  if (!output.empty()) {
    const Matrix all = shaped(transformed, values.rows, output.cols);
    kernels::matmul(values, output, {}, all);
    values = all;
  }
  norms.resize(values.rows);
  for (std::size_t token = 0; token < values.rows; ++token) {
    norms[token] = std::sqrt(sum_of_squares(values.row(token)));
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
