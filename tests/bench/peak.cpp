// Compiled once per SIMD target, like the kernels that are compared with it.

#include "bench/peak.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peak.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // must come after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One round: twelve chains, more than latency times units on any machine, twice.
constexpr std::size_t kMultiplyAdds = 24;

float multiply_add_round(int rounds) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f);
  const auto term = hn::Set(d, 1e-3f);
  auto a = hn::Set(d, 0.1f), b = hn::Set(d, 0.2f), c = hn::Set(d, 0.3f), e = hn::Set(d, 0.4f);
  auto f = hn::Set(d, 0.5f), g = hn::Set(d, 0.6f), h = hn::Set(d, 0.7f), i = hn::Set(d, 0.8f);
  auto j = hn::Set(d, 0.9f), k = hn::Set(d, 1.0f), l = hn::Set(d, 1.1f), m = hn::Set(d, 1.2f);
  for (int round = 0; round < rounds; ++round) {
    for (int half = 0; half < 2; ++half) {
      a = hn::MulAdd(a, factor, term);
      b = hn::MulAdd(b, factor, term);
      c = hn::MulAdd(c, factor, term);
      e = hn::MulAdd(e, factor, term);
      f = hn::MulAdd(f, factor, term);
      g = hn::MulAdd(g, factor, term);
      h = hn::MulAdd(h, factor, term);
      i = hn::MulAdd(i, factor, term);
      j = hn::MulAdd(j, factor, term);
      k = hn::MulAdd(k, factor, term);
      l = hn::MulAdd(l, factor, term);
      m = hn::MulAdd(m, factor, term);
    }
  }
  a = hn::Add(hn::Add(a, b), hn::Add(c, e));
  f = hn::Add(hn::Add(f, g), hn::Add(h, i));
  j = hn::Add(hn::Add(j, k), hn::Add(l, m));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, hn::Add(f, j))));
}

double operations_of_a_round() {
  return 2.0 * static_cast<double>(kMultiplyAdds * hn::Lanes(hn::ScalableTag<float>()));
}

}  // namespace attnviz::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::bench {
HWY_EXPORT(multiply_add_round);
HWY_EXPORT(operations_of_a_round);

float multiply_add_round(int rounds) {
  return HWY_DYNAMIC_DISPATCH(multiply_add_round)(rounds);
}

double operations_of_a_round() {
  return HWY_DYNAMIC_DISPATCH(operations_of_a_round)();
}

}  // namespace attnviz::bench
#endif  // HWY_ONCE
