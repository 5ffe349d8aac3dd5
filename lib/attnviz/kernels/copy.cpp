// Copying of rows, compiled once per SIMD target.

#include "attnviz/kernels/copy.h"

#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/copy.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void stream_rows(ConstMatrix from, Matrix to) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t alignment = lanes * sizeof(float);
  for (std::size_t row = 0; row < from.rows; ++row) {
    const float* source = from.row_data(row);
    float* target = to.row_data(row);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(target) % alignment;
    const std::size_t head = HWY_MIN(from.cols, (alignment - past) % alignment / sizeof(float));
    std::memcpy(target, source, head * sizeof(float));
    std::size_t col = head;
    for (; col + lanes <= from.cols; col += lanes) {
      hn::Stream(hn::LoadU(d, source + col), d, target + col);
    }
    std::memcpy(target + col, source + col, (from.cols - col) * sizeof(float));
  }
  hwy::FlushStream();
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(stream_rows);

void copy(ConstMatrix from, Matrix to, bool stream) noexcept {
  if (stream) {
    return HWY_DYNAMIC_DISPATCH(stream_rows)(from, to);
  }
  for (std::size_t row = 0; row < from.rows; ++row) {
    std::memcpy(to.row_data(row), from.row_data(row), from.cols * sizeof(float));
  }
}

void flush_streams() noexcept {
  hwy::FlushStream();
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
