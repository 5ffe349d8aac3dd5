// Scores and softmax, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/attention_kernels.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/attention_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include <hwy/contrib/math/math-inl.h>

#include "attnviz/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct StartAtNothing {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::size_t /*row*/, std::size_t /*col*/) const {
    return hn::Zero(d);
  }
};

struct Scaled {
  float scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> sum) const {
    return hn::Mul(sum, hn::Set(d, scale));
  }
};

void attention_scores(ConstMatrix query, ConstMatrix key_transposed, float scale, Matrix scores) {
  multiply(query, key_transposed, StartAtNothing{}, Scaled{scale}, scores);
}

// The largest of n values; NaN when one of them is NaN or +infinity.
float largest_score(const float* x, std::size_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const hn::ScalableTag<float> d;
  const auto infinity = hn::Set(d, kInfinity);
  auto largest = hn::Set(d, -kInfinity);
  auto usable = hn::Lt(largest, infinity);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, x + i);
    usable = hn::And(usable, hn::Lt(value, infinity));  // false for NaN too
    largest = hn::Max(largest, value);
  }
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  bool all_usable = hn::AllTrue(d, usable);
  for (; i < n; ++i) {
    all_usable = all_usable && x[i] < kInfinity;
    result = HWY_MAX(result, x[i]);
  }
  return all_usable ? result : std::numeric_limits<float>::quiet_NaN();
}

// x[i] = exp(x[i] - shift); the sum of these.
double exponentials(float* x, std::size_t n, float shift) {
  // Each stretch is summed in float lanes and the stretches in double, so that a row of a hundred
  // thousand keys sums to 1 as well as a short one does.
  constexpr std::size_t kStretch = 1024;
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  double total = 0.0;
  for (std::size_t begin = 0; begin < n; begin += kStretch) {
    const std::size_t end = HWY_MIN(begin + kStretch, n);
    auto sum = hn::Zero(d);
    std::size_t i = begin;
    for (; i + hn::Lanes(d) <= end; i += hn::Lanes(d)) {
      const auto value = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, shift)));
      hn::StoreU(value, d, x + i);
      sum = hn::Add(sum, value);
    }
    auto rest = hn::Zero(one);
    for (; i < end; ++i) {
      const auto value = hn::Exp(one, hn::Sub(hn::LoadU(one, x + i), hn::Set(one, shift)));
      hn::StoreU(value, one, x + i);
      rest = hn::Add(rest, value);
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum))) +
             static_cast<double>(hn::GetLane(rest));
  }
  return total;
}

void multiply_by(float* x, std::size_t n, float factor) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  }
  for (; i < n; ++i) {
    x[i] *= factor;
  }
}

bool softmax(float* x, std::size_t n) {
  const float largest = largest_score(x, n);
  if (std::isnan(largest)) {
    return false;
  }
  if (largest == -std::numeric_limits<float>::infinity()) {
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = 0.0f;  // nothing is visible, or there is nothing
    }
    return true;
  }
  // Shifting by the largest makes its term exp(0): the sum is at least 1 and cannot overflow.
  const double sum = exponentials(x, n, largest);
  multiply_by(x, n, static_cast<float>(1.0 / sum));
  return true;
}

bool all_finite(const float* x, std::size_t n) {
  const hn::ScalableTag<float> d;
  const auto largest = hn::Set(d, std::numeric_limits<float>::max());
  auto finite = hn::Le(hn::Zero(d), largest);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    finite = hn::And(finite, hn::Le(hn::Abs(hn::LoadU(d, x + i)), largest));
  }
  bool all = hn::AllTrue(d, finite);
  for (; i < n; ++i) {
    all = all && x[i] - x[i] == 0.0f;  // infinity minus itself is NaN
  }
  return all;
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(attention_scores);
HWY_EXPORT(softmax);
HWY_EXPORT(all_finite);

void attention_scores(ConstMatrix query, ConstMatrix key_transposed, float scale,
                      Matrix scores) noexcept {
  HWY_DYNAMIC_DISPATCH(attention_scores)(query, key_transposed, scale, scores);
}

bool softmax(float* x, std::size_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax)(x, n);
}

bool all_finite(std::span<const float> values) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_finite)(values.data(), values.size());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
