// Copying of rows, their entropy, and random numbers, compiled once per SIMD target.

#include "attnviz/kernels/row_kernels.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/row_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>

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

// Loads numbers i, i + 1, … of n as doubles; `filler` past the end.
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

void fill_uniform(const RandomBits& random, float bound, std::span<float> out) {
  using Words = hn::ScalableTag<std::uint64_t>;
  const Words words;
  const hn::Rebind<std::uint32_t, Words> halves;
  const hn::Rebind<std::int32_t, Words> ints;
  const hn::Rebind<float, Words> floats;
  const std::size_t lanes = hn::Lanes(words);
  const auto convert = [&](auto word) HWY_ATTR {
    const auto bits = hn::BitCast(ints, hn::TruncateTo(halves, hn::ShiftRight<40>(word)));
    const auto odd = hn::Add(hn::Add(bits, bits), hn::Set(ints, 1 - (1 << 24)));
    return hn::Mul(hn::Mul(hn::ConvertTo(floats, odd), hn::Set(floats, 0x1p-24f)),
                   hn::Set(floats, bound));
  };
  const auto step = hn::Set(words, lanes * RandomBits::kStep);
  auto unmixed = hn::Add(hn::Set(words, random.unmixed(0)),
                         hn::Mul(hn::Iota(words, 0), hn::Set(words, RandomBits::kStep)));
  std::size_t i = 0;
  for (; i + lanes <= out.size(); i += lanes, unmixed = hn::Add(unmixed, step)) {
    auto word = unmixed;
    word = hn::Mul(hn::Xor(word, hn::ShiftRight<30>(word)), hn::Set(words, RandomBits::kFactor1));
    word = hn::Mul(hn::Xor(word, hn::ShiftRight<27>(word)), hn::Set(words, RandomBits::kFactor2));
    word = hn::Xor(word, hn::ShiftRight<31>(word));
    hn::StoreU(convert(word), floats, out.data() + i);
  }
  for (; i < out.size(); ++i) {
    const auto bits = static_cast<std::int32_t>(random[i] >> 40);
    out[i] = static_cast<float>(2 * bits + 1 - (1 << 24)) * 0x1p-24f * bound;
  }
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

HWY_EXPORT(fill_uniform);

void fill_uniform(const RandomBits& random, float bound, std::span<float> out) noexcept {
  HWY_DYNAMIC_DISPATCH(fill_uniform)(random, bound, out);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
