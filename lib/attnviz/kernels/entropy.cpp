// Sums of logarithms, compiled once per SIMD target. The system's logarithm of one number at a time
// took a fifth of scoring a model's heads.

#include "attnviz/kernels/entropy.h"

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

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {

HWY_EXPORT(entropy_sums);

EntropySums entropy_sums(std::span<const double> shares, double even) noexcept {
  return HWY_DYNAMIC_DISPATCH(entropy_sums)(shares.data(), shares.size(), even);
}

}  // namespace attnviz::kernels
#endif
