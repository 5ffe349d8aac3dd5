#include "attnviz/analysis/largest_weight.h"

#include <algorithm>
#include <span>

#include "attnviz/kernels/pooling_kernels.h"

namespace attnviz {

void LargestWeight::rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
                         ConstMatrix weights) {
  float largest = 0.0f;
  kernels::pool_largest(weights, 0, weights.cols, std::span(&largest, 1));
  const std::scoped_lock lock(mutex_);
  largest_ = std::max(largest_, largest);
}

}  // namespace attnviz
