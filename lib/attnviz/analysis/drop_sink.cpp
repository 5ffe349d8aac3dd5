#include "attnviz/analysis/drop_sink.h"

#include <cstddef>

namespace attnviz {

MatrixBuffer without_first_key(ConstMatrix weights) {
  MatrixBuffer rest(weights.rows, weights.cols - 1);
  for (std::size_t query = 0; query < weights.rows; ++query) {
    double sum = 0.0;
    for (std::size_t key = 1; key < weights.cols; ++key) {
      sum += static_cast<double>(weights(query, key));
    }
    for (std::size_t key = 1; key < weights.cols; ++key) {
      const auto weight = static_cast<double>(weights(query, key));
      rest.view()(query, key - 1) = sum == 0.0 ? 0.0f : static_cast<float>(weight / sum);
    }
  }
  return rest;
}

}  // namespace attnviz
