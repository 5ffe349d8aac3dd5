#include "attnviz/kernels/soft_cap.h"

#include <cmath>

namespace attnviz::kernels {

namespace {

void cap_values(std::span<float> values, float factor, float cap) {
  for (float& value : values) {
    value = cap * std::tanh(factor * value / cap);
  }
}

}  // namespace

void soft_cap(Matrix scores, std::span<const KeyRange> ranges, std::size_t first_key, float factor,
              float cap) noexcept {
  for (std::size_t r = 0; r < scores.rows; ++r) {
    if (ranges[r].first < ranges[r].end) {
      cap_values(scores.row(r).subspan(ranges[r].first - first_key, ranges[r].size()), factor, cap);
    }
  }
}

void soft_cap(std::span<float> values, float cap) noexcept {
  cap_values(values, 1.0f, cap);
}

}  // namespace attnviz::kernels
