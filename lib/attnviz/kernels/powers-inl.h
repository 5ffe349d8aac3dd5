// Powers of two, and vectors of which only some lanes lie in memory. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_POWERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_POWERS_INL_H_
#undef ATTNVIZ_KERNELS_POWERS_INL_H_
#else
#define ATTNVIZ_KERNELS_POWERS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The first `count` lanes, fewer than a vector has, and `filler`. Nothing past them is touched.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const float* from, std::size_t count, float filler) {
#if HWY_TARGET <= HWY_AVX2
  const auto is_there = hn::FirstN(d, count);
  return hn::IfThenElse(is_there, hn::MaskedLoad(is_there, d, from), hn::Set(d, filler));
#else
  HWY_ALIGN float lanes[HWY_LANES(float)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    lanes[i] = i < count ? from[i] : filler;
  }
  return hn::Load(d, lanes);
#endif
}

template <class D>
HWY_INLINE void store_some(D d, hn::Vec<D> value, float* to, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(value, d, lanes);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = lanes[i];
  }
#endif
}

// The least number that is not subnormal: those would take a hundred times as long.
constexpr float kLeast = std::numeric_limits<float>::min();
// The logarithm to the base 2 of terms that are no subnormal numbers after a division by 2^26 keys.
constexpr float kSmall = -100.0f;
constexpr float kLog2E = 1.44269504088896340736f;

// 2^y for y <= 0, with a relative error below 2.5e-7; 0 below 2^-126, which is kLeast. NaN stays.
template <class D>
HWY_INLINE hn::Vec<D> power_of_two(D d, hn::Vec<D> y) {
  const auto large = hn::Set(d, kWholeNumbers);
  const auto rounded = hn::Add(y, large);
  const auto whole = hn::Sub(rounded, large);
  const auto p = power_of_rest(d, hn::Sub(y, whole));
#if HWY_TARGET <= HWY_AVX3
  const auto is_large = _mm512_cmp_ps_mask(y.raw, _mm512_set1_ps(-126.0f), _CMP_NLT_UQ);
  return hn::Vec<D>{_mm512_maskz_scalef_ps(is_large, p.raw, whole.raw)};
#else
  const auto is_small = hn::Lt(y, hn::Set(d, -126.0f));
  const auto power = times_power(d, p, rounded);
  return hn::IfThenElse(hn::IsNaN(y), y, hn::IfThenZeroElse(is_small, power));
#endif
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
