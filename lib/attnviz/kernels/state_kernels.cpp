// The states of linear attention, compiled once per SIMD target. Contract and shapes:
// state_kernels.h.

#include "attnviz/kernels/state_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/state_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls `work(d, column)` for vectors of columns, then for those that are left, one by one.
template <class Work>
void for_columns(std::size_t n, const Work& work) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + lanes <= n; column += lanes) {
    work(d, column);
  }
  for (; column < n; ++column) {
    work(hn::CappedTag<float, 1>(), column);
  }
}

void read_state(ConstMatrix state, const float* x, float* out) {
  for_columns(state.cols, [&](auto d, std::size_t column) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::size_t row = 0; row < state.rows; ++row) {
      sum = hn::MulAdd(hn::Set(d, x[row]), hn::LoadU(d, state.row_data(row) + column), sum);
    }
    hn::StoreU(sum, d, out + column);
  });
}

void write_state(float decay, const float* k, const float* w, const float* q, Matrix state,
                 float* out) {
  for_columns(state.cols, [&](auto d, std::size_t column) HWY_ATTR {
    const auto kept = hn::Set(d, decay);
    const auto written = hn::LoadU(d, w + column);
    auto sum = hn::Zero(d);
    for (std::size_t row = 0; row < state.rows; ++row) {
      float* const at = state.row_data(row) + column;
      const auto next = hn::MulAdd(hn::Set(d, k[row]), written, hn::Mul(kept, hn::LoadU(d, at)));
      hn::StoreU(next, d, at);
      sum = hn::MulAdd(hn::Set(d, q[row]), next, sum);
    }
    hn::StoreU(sum, d, out + column);
  });
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(read_state);
HWY_EXPORT(write_state);

void read_state(ConstMatrix state, std::span<const float> x, std::span<float> out) noexcept {
  HWY_DYNAMIC_DISPATCH(read_state)(state, x.data(), out.data());
}

void write_state(float decay, std::span<const float> k, std::span<const float> w,
                 std::span<const float> q, Matrix state, std::span<float> out) noexcept {
  HWY_DYNAMIC_DISPATCH(write_state)(decay, k.data(), w.data(), q.data(), state, out.data());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
