// Normalisation of rows, compiled once per SIMD target.

#include "attnviz/kernels/norms.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/norms.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;

// The sum of term(x[i]) over a row, in doubles and in an order that depends on n only.
template <class Term>
HWY_INLINE double sum_of(const float* x, std::size_t n, const Term& term) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kSums = 4;  // or each would wait for the one before
  hn::Vec<Doubles> sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + kSums * lanes <= n; i += kSums * lanes) {
    HWY_UNROLL(4)
    for (std::size_t s = 0; s < kSums; ++s) {
      const auto value = hn::PromoteTo(d, hn::LoadU(df, x + i + s * lanes));
      sums[s] = hn::Add(sums[s], term(value));
    }
  }
  for (; i < n; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, n - i);
    HWY_ALIGN float rest[hn::MaxLanes(df)] = {};
    for (std::size_t lane = 0; lane < count; ++lane) {
      rest[lane] = x[i + lane];
    }
    const auto terms = term(hn::PromoteTo(d, hn::Load(df, rest)));
    sums[0] = hn::Add(sums[0], hn::IfThenElseZero(hn::FirstN(d, count), terms));
  }
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void layer_norm(ConstMatrix x, const float* weight, const float* bias, double epsilon, Matrix out) {
  const Doubles dd;
  const auto count = static_cast<double>(x.cols);
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* row = x.row_data(r);
    const double mean = sum_of(row, x.cols, [](auto value) HWY_ATTR { return value; }) / count;
    const auto means = hn::Set(dd, mean);
    const double squares = sum_of(row, x.cols, [&](auto value) HWY_ATTR {
      const auto deviation = hn::Sub(value, means);
      return hn::Mul(deviation, deviation);
    });
    // The mean as a sum of two floats: what is left of a large one would show in small deviations.
    const auto mean_high = static_cast<float>(mean);
    const auto mean_low = static_cast<float>(mean - static_cast<double>(mean_high));
    const auto factor = static_cast<float>(1.0 / std::sqrt(squares / count + epsilon));
    map_numbers(x.cols, out.row_data(r), [&](auto d, auto load) HWY_ATTR {
      const auto deviation =
          hn::Sub(hn::Sub(load(row), hn::Set(d, mean_high)), hn::Set(d, mean_low));
      const auto value = hn::Mul(hn::Mul(deviation, hn::Set(d, factor)), load(weight));
      return bias == nullptr ? value : hn::Add(value, load(bias));
    });
  }
}

double sum_of_squares(const float* x, std::size_t n) {
  return sum_of(x, n, [](auto value) HWY_ATTR { return hn::Mul(value, value); });
}

void rms_norm(ConstMatrix x, const float* weight, float weight_offset, double epsilon, Matrix out) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* row = x.row_data(r);
    const double mean = sum_of_squares(row, x.cols) / static_cast<double>(x.cols);
    const auto factor = static_cast<float>(1.0 / std::sqrt(mean + epsilon));
    map_numbers(x.cols, out.row_data(r), [&](auto d, auto load) HWY_ATTR {
      const auto scale = hn::Add(load(weight), hn::Set(d, weight_offset));
      return hn::Mul(hn::Mul(load(row), hn::Set(d, factor)), scale);
    });
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(layer_norm);
HWY_EXPORT(rms_norm);
HWY_EXPORT(sum_of_squares);

void layer_norm(ConstMatrix x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(layer_norm)
  (x, weight.data(), bias.empty() ? nullptr : bias.data(), epsilon, out);
}

void rms_norm(ConstMatrix x, std::span<const float> weight, float weight_offset, double epsilon,
              Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(rms_norm)(x, weight.data(), weight_offset, epsilon, out);
}

double sum_of_squares(std::span<const float> x) noexcept {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(x.data(), x.size());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
