// Sums of logarithms, compiled once per SIMD target. The system's logarithm of one number at a time
// took a fifth of scoring a model's heads.

#include "attnviz/kernels/entropy.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/entropy.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

struct LaneSums {
  V bits, mixed_bits;
  std::size_t count;
};

HWY_INLINE void add(V share, V even, LaneSums& sums) {
  const D d;
  const auto is_there = hn::Gt(share, hn::Zero(d));
  const V mixed = hn::Mul(hn::Add(share, even), hn::Set(d, 0.5));
  const V bits = hn::IfThenElseZero(is_there, hn::Mul(share, hn::Log2(d, share)));
  const V mixed_bits = hn::IfThenElseZero(is_there, hn::Mul(mixed, hn::Log2(d, mixed)));
  sums.bits = hn::Sub(sums.bits, bits);
  sums.mixed_bits = hn::Sub(sums.mixed_bits, mixed_bits);
  sums.count += hn::CountTrue(d, is_there);
}

EntropySums entropy_sums(const double* shares, std::size_t n, double even) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V evens = hn::Set(d, even);
  LaneSums sums{hn::Zero(d), hn::Zero(d), 0};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    add(hn::LoadU(d, shares + i), evens, sums);
  }
  if (i < n) {
    HWY_ALIGN double rest[HWY_LANES(double)] = {};
    for (std::size_t lane = 0; i + lane < n; ++lane) {
      rest[lane] = shares[i + lane];
    }
    add(hn::Load(d, rest), evens, sums);
  }
  return {hn::GetLane(hn::SumOfLanes(d, sums.bits)),
          hn::GetLane(hn::SumOfLanes(d, sums.mixed_bits)), sums.count};
}

// Numbers i, i + 1, … of n, as doubles; `filler` where there are no more.
HWY_INLINE V load_floats(const float* x, std::size_t i, std::size_t n, float filler) {
  const D d;
  const hn::Rebind<float, D> of_floats;
  if (i + hn::Lanes(d) <= n) {
    return hn::PromoteTo(d, hn::LoadU(of_floats, x + i));
  }
  HWY_ALIGN float rest[HWY_LANES(double)];
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    rest[lane] = i + lane < n ? x[i + lane] : filler;
  }
  return hn::PromoteTo(d, hn::Load(of_floats, rest));
}

double log_sum_exp(const float* x, std::size_t n) {
  const D d;
  V largest = hn::Set(d, static_cast<double>(x[0]));
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    largest = hn::Max(largest, load_floats(x, i, n, x[0]));
  }
  largest = hn::MaxOfLanes(d, largest);
  V sum = hn::Zero(d);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V y = load_floats(x, i, n, -std::numeric_limits<float>::max());
    sum = hn::Add(sum, hn::Exp(d, hn::Sub(y, largest)));
  }
  return hn::GetLane(largest) + std::log(hn::GetLane(hn::SumOfLanes(d, sum)));
}

double divergence(const float* x, double log_sum_x, const float* y, double log_sum_y,
                  std::size_t n) {
  const D d;
  V sum = hn::Zero(d);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V log_p =
        hn::Sub(load_floats(x, i, n, -std::numeric_limits<float>::max()), hn::Set(d, log_sum_x));
    const V log_q = hn::Sub(load_floats(y, i, n, 0.0f), hn::Set(d, log_sum_y));
    sum = hn::MulAdd(hn::Exp(d, log_p), hn::Sub(log_p, log_q), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {

HWY_EXPORT(entropy_sums);
HWY_EXPORT(log_sum_exp);
HWY_EXPORT(divergence);

EntropySums entropy_sums(std::span<const double> shares, double even) noexcept {
  return HWY_DYNAMIC_DISPATCH(entropy_sums)(shares.data(), shares.size(), even);
}

double log_sum_exp(std::span<const float> x) noexcept {
  return HWY_DYNAMIC_DISPATCH(log_sum_exp)(x.data(), x.size());
}

double divergence(std::span<const float> x, double log_sum_x, std::span<const float> y,
                  double log_sum_y) noexcept {
  return HWY_DYNAMIC_DISPATCH(divergence)(x.data(), log_sum_x, y.data(), log_sum_y, x.size());
}

}  // namespace attnviz::kernels
#endif
