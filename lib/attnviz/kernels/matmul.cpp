// Matrix products, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/matmul.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sum itself is what a plain product stores.
struct KeepSum {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D /*d*/, hn::Vec<D> sum) const {
    return sum;
  }
};

struct StartAtZero {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::size_t /*row*/, std::size_t /*col*/) const {
    return hn::Zero(d);
  }
};

struct StartAtBias {
  const float* bias;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::size_t /*row*/, std::size_t col) const {
    return hn::LoadU(d, bias + col);
  }
};

struct StartAtOutput {
  ConstMatrix out;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::size_t row, std::size_t col) const {
    return hn::LoadU(d, out.row_data(row) + col);
  }
};

void matmul(ConstMatrix x, ConstMatrix w, const float* bias, Matrix out) {
  if (bias == nullptr) {
    multiply(x, w, StartAtZero{}, KeepSum{}, out);
  } else {
    multiply(x, w, StartAtBias{bias}, KeepSum{}, out);
  }
}

void matmul_add(ConstMatrix x, ConstMatrix w, Matrix out) {
  multiply(x, w, StartAtOutput{out}, KeepSum{}, out);
}

void add(ConstMatrix x, Matrix out) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* from = x.row_data(r);
    float* to = out.row_data(r);
    std::size_t c = 0;
    for (; c + hn::Lanes(d) <= x.cols; c += hn::Lanes(d)) {
      hn::StoreU(hn::Add(hn::LoadU(d, to + c), hn::LoadU(d, from + c)), d, to + c);
    }
    for (; c < x.cols; ++c) {
      to[c] += from[c];
    }
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(matmul);
HWY_EXPORT(matmul_add);
HWY_EXPORT(add);

void matmul(ConstMatrix x, ConstMatrix w, std::span<const float> bias, Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(matmul)(x, w, bias.empty() ? nullptr : bias.data(), out);
}

void matmul_add(ConstMatrix x, ConstMatrix w, Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(matmul_add)(x, w, out);
}

void add(ConstMatrix x, Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(add)(x, out);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
