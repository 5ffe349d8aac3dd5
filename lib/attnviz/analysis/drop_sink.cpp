#include "attnviz/analysis/drop_sink.h"

#include <algorithm>
#include <cstddef>

namespace attnviz {

double sum_of(std::span<const float> weights) noexcept {
  double sum = 0.0;
  for (const float weight : weights) {
    sum += static_cast<double>(weight);
  }
  return sum;
}

void scale_to_one(std::span<float> weights) noexcept {
  const double sum = sum_of(weights);
  for (float& weight : weights) {
    weight = scaled_by(sum, weight);
  }
}

MatrixBuffer without_first_key(ConstMatrix weights) {
  MatrixBuffer rest(weights.rows, weights.cols - 1);
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const std::span<const float> row = weights.row(query).subspan(1);
    std::copy(row.begin(), row.end(), rest.view().row(query).begin());
    scale_to_one(rest.view().row(query));
  }
  return rest;
}

}  // namespace attnviz
