#include "attnviz/analysis/drop_sink.h"

#include <algorithm>
#include <cstddef>

namespace attnviz {

void scale_to_one(std::span<float> weights) noexcept {
  double sum = 0.0;
  for (const float weight : weights) {
    sum += static_cast<double>(weight);
  }
  for (float& weight : weights) {
    weight = sum == 0.0 ? 0.0f : static_cast<float>(static_cast<double>(weight) / sum);
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
