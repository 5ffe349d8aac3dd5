// Bounded scores, compiled once per SIMD target.

#include "attnviz/kernels/soft_cap.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/soft_cap.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void soft_cap(float* x, std::size_t n, float factor, float cap) {
  const float inner = factor / cap;
  map_numbers(n, x, [&](auto d, auto load) HWY_ATTR {
    const auto bounded = hyperbolic_tangent(d, hn::Mul(load(x), hn::Set(d, inner)));
    return hn::Mul(bounded, hn::Set(d, cap));
  });
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(soft_cap);

void soft_cap(Matrix scores, std::span<const KeyRange> ranges, std::size_t first_key, float factor,
              float cap) noexcept {
  const auto cap_row = HWY_DYNAMIC_DISPATCH(soft_cap);
  for (std::size_t r = 0; r < scores.rows; ++r) {
    if (ranges[r].first < ranges[r].end) {
      cap_row(scores.row_data(r) + ranges[r].first - first_key, ranges[r].size(), factor, cap);
    }
  }
}

void soft_cap(std::span<float> values, float cap) noexcept {
  HWY_DYNAMIC_DISPATCH(soft_cap)(values.data(), values.size(), 1.0f, cap);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
