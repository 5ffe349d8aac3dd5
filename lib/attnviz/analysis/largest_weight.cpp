#include "attnviz/analysis/largest_weight.h"

#include <algorithm>
#include <span>

#include "attnviz/analysis/drop_sink.h"
#include "attnviz/kernels/pooling_kernels.h"

namespace attnviz {

namespace {

float largest_without_first(ConstMatrix weights, std::size_t first) {
  float largest = 0.0f;
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const std::span<const float> rest = weights.row(query).subspan(first);
    if (!rest.empty()) {
      largest = std::max(largest, scaled_by(sum_of(rest), *std::ranges::max_element(rest)));
    }
  }
  return largest;
}

}  // namespace

void LargestWeight::rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t first_key,
                         ConstMatrix weights) {
  float largest = 0.0f;
  if (drops_first_key_) {
    largest = largest_without_first(weights, first_key == 0 ? 1 : 0);
  } else {
    kernels::pool_largest(weights, 0, weights.cols, std::span(&largest, 1));
  }
  const std::scoped_lock lock(mutex_);
  largest_ = std::max(largest_, largest);
}

}  // namespace attnviz
