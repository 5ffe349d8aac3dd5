// Functions applied to each number of an array, and vectors that lie only partly in memory.
// Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_MAP_INL_H_
#undef ATTNVIZ_KERNELS_MAP_INL_H_
#else
#define ATTNVIZ_KERNELS_MAP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out[i] = function(d, load) for all i < n, a vector at a time, where load(x) loads x[i]. The bits
// of a number do not depend on its position; memory past the ends is not touched.
template <class Function>
HWY_INLINE void map_numbers(std::size_t n, float* out, const Function& function) {
  const hn::CappedTag<float, 16> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(function(d, [&](const float* x) HWY_ATTR { return hn::LoadU(d, x + i); }), d,
               out + i);
  }
  if (i < n) {
    HWY_ALIGN float rest[hn::MaxLanes(d)];
    const auto value = function(d, [&](const float* x) HWY_ATTR {
      HWY_ALIGN float numbers[hn::MaxLanes(d)] = {};
      for (std::size_t lane = 0; i + lane < n; ++lane) {
        numbers[lane] = x[i + lane];
      }
      return hn::Load(d, numbers);
    });
    hn::Store(value, d, rest);
    for (std::size_t lane = 0; i + lane < n; ++lane) {
      out[i + lane] = rest[lane];
    }
  }
}

// Bounds that preserve NaN.
template <class D, class V>
HWY_INLINE V at_least(D d, V x, float least) {
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, least)), hn::Set(d, least), x);
}
template <class D, class V>
HWY_INLINE V at_most(D d, V x, float most) {
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, most)), hn::Set(d, most), x);
}

// Floats of this size are whole numbers; their last bits are the integer.
inline constexpr float kWholeNumbers = 12582912.0f;

// 2^rest for rest in [-1/2, 1/2]. The polynomial has the smallest maximal relative error, 9e-8,
// among those of degree 5 that are 1 at 0 (by iteratively reweighted least squares).
template <class D, class V>
HWY_INLINE V power_of_rest(D d, V rest) {
  auto p = hn::Set(d, 0.00132647272f);
  p = hn::MulAdd(p, rest, hn::Set(d, 0.00967151269f));
  p = hn::MulAdd(p, rest, hn::Set(d, 0.0555073374f));
  p = hn::MulAdd(p, rest, hn::Set(d, 0.240222421f));
  p = hn::MulAdd(p, rest, hn::Set(d, 0.693146978f));
  return hn::MulAdd(p, rest, hn::Set(d, 1.0f));
}

// x · 2^n, where `whole` is n + kWholeNumbers.
template <class D, class V>
HWY_INLINE V times_power(D d, V x, V whole) {
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, whole));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, x), exponent));
}

// e^x for x in [-87.3, 88], with a relative error of about 3e-7 near 0 and 1e-5 far from it;
// without multiply-add instructions, the rounding of x · log2(e) weighs more there. NaN stays NaN.
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  const auto log2_e = hn::Set(d, 1.44269504088896340736f);
  const auto large = hn::Set(d, kWholeNumbers);
  const auto rounded = hn::MulAdd(x, log2_e, large);
  const auto rest = hn::MulSub(x, log2_e, hn::Sub(rounded, large));
  return hn::IfThenElse(hn::IsNaN(x), x, times_power(d, power_of_rest(d, rest), rounded));
}

// tanh x with a relative error of a few float steps: a quotient of polynomials of degree 13 and 6,
// which is 1 where tanh is, within one float step. Source: Eigen, generic_fast_tanh_float.
template <class D, class V>
HWY_INLINE V hyperbolic_tangent(D d, V x) {
  const V bounded = at_most(d, at_least(d, x, -7.90531110763549805f), 7.90531110763549805f);
  const V square = hn::Mul(bounded, bounded);
  V p = hn::Set(d, -2.76076847742355e-16f);
  p = hn::MulAdd(p, square, hn::Set(d, 2.00018790482477e-13f));
  p = hn::MulAdd(p, square, hn::Set(d, -8.60467152213735e-11f));
  p = hn::MulAdd(p, square, hn::Set(d, 5.12229709037114e-08f));
  p = hn::MulAdd(p, square, hn::Set(d, 1.48572235717979e-05f));
  p = hn::MulAdd(p, square, hn::Set(d, 6.37261928875436e-04f));
  p = hn::MulAdd(p, square, hn::Set(d, 4.89352455891786e-03f));
  V q = hn::Set(d, 1.19825839466702e-06f);
  q = hn::MulAdd(q, square, hn::Set(d, 1.18534705686654e-04f));
  q = hn::MulAdd(q, square, hn::Set(d, 2.26843463243900e-03f));
  q = hn::MulAdd(q, square, hn::Set(d, 4.89352518554385e-03f));
  return hn::Div(hn::Mul(bounded, p), q);
}

// Loads the first `count` lanes, fewer than a vector has, and fills the rest with `filler`. Memory
// past them is not touched.
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

// The smallest normal number: subnormal ones would be a hundred times slower.
constexpr float kLeast = std::numeric_limits<float>::min();
// log2 of terms that are still normal numbers after a division by 2^26 keys.
constexpr float kSmall = -100.0f;
constexpr float kLog2E = 1.44269504088896340736f;

// 2^(factor · x) for x <= 0 and factor > 0, with a relative error below 2e-7 for products in [-1,
// 0], and 3e-6 far from them, where the product's rounding weighs more. 1 for 0; NaN stays NaN.
// With is_spread, results below 2^-126, which is kLeast, become 0; otherwise they may be subnormal.
template <class D, class IsSpread>
HWY_INLINE hn::Vec<D> power_of_two(D d, hn::Vec<D> x, hn::Vec<D> factor,
                                   [[maybe_unused]] IsSpread is_spread) {
#if HWY_TARGET <= HWY_AVX3
  // After adding one half, one instruction gives the fraction t in [0, 1), and one multiplies by
  // the power of the whole part. The polynomial, 2^(t - 1/2), has the smallest maximal relative
  // error, 9e-8, among those of degree 5 that are 1 at 1/2.
  const auto y = hn::MulAdd(x, factor, hn::Set(d, 0.5f));
  const hn::Vec<D> t{_mm512_reduce_ps(y.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
  auto p = hn::Set(d, 0.00132647273f);
  p = hn::MulAdd(p, t, hn::Set(d, 0.00635533081f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.0394804925f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.169810593f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.490133852f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.707106709f));
  if constexpr (is_spread()) {
    const auto is_large = _mm512_cmp_ps_mask(y.raw, _mm512_set1_ps(-125.5f), _CMP_NLT_UQ);
    return hn::Vec<D>{_mm512_maskz_scalef_ps(is_large, p.raw, y.raw)};
  }
  return hn::Vec<D>{_mm512_scalef_ps(p.raw, y.raw)};
#else
  const auto y = hn::Mul(x, factor);
  const auto large = hn::Set(d, kWholeNumbers);
  const auto rounded = hn::Add(y, large);
  const auto p = power_of_rest(d, hn::Sub(y, hn::Sub(rounded, large)));
  const auto is_small = hn::Lt(y, hn::Set(d, -126.0f));
  const auto power = times_power(d, p, rounded);
  return hn::IfThenElse(hn::IsNaN(y), y, hn::IfThenZeroElse(is_small, power));
#endif
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
