// Softmax of rows, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/softmax.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/softmax.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A row of n numbers as whole vectors and a last one that may be shorter. Lanes past its end are
// `filler` when loaded; when stored they are left alone, or written too where there is room for it,
// which needs no masks in memory.
struct RowEnd {
  std::size_t count;  // of the last vector's lanes; 0: there is none
  bool has_room;
};

template <class D>
HWY_INLINE hn::Vec<D> load_end(D d, const float* from, RowEnd end, float filler) {
#if HWY_TARGET <= HWY_AVX2
  const auto is_there = hn::FirstN(d, end.count);
  const auto value = end.has_room ? hn::LoadU(d, from) : hn::MaskedLoad(is_there, d, from);
  return hn::IfThenElse(is_there, value, hn::Set(d, filler));
#else
  HWY_ALIGN float lanes[HWY_LANES(float)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    lanes[i] = i < end.count ? from[i] : filler;
  }
  return hn::Load(d, lanes);
#endif
}

template <class D>
HWY_INLINE void store_end(D d, hn::Vec<D> value, float* to, RowEnd end) {
  if (end.has_room) {
    return hn::StoreU(value, d, to);
  }
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(value, hn::FirstN(d, end.count), d, to);
#else
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(value, d, lanes);
  for (std::size_t i = 0; i < end.count; ++i) {
    to[i] = lanes[i];
  }
#endif
}

// 2^y for y <= 0, with a relative error below 2.5e-7; 0 below 2^-100, so that what is left of it
// after a division by the number of keys is no subnormal number, which would take a hundred times
// as long. NaN stays.
//
// y is a whole number and a rest in [-1/2, 1/2]. The polynomial has the least largest relative
// error, 9e-8, of those of degree 5 that are 1 at 0 (by iteratively reweighted least squares).
template <class D>
HWY_INLINE hn::Vec<D> power_of_two(D d, hn::Vec<D> y) {
  const auto whole = hn::Round(y);
  const auto rest = hn::Sub(y, whole);
  auto p = hn::Set(d, 0.00132647272f);
  p = hn::MulAdd(p, rest, hn::Set(d, 0.00967151269f));
  p = hn::MulAdd(p, rest, hn::Set(d, 0.0555073374f));
  p = hn::MulAdd(p, rest, hn::Set(d, 0.240222421f));
  p = hn::MulAdd(p, rest, hn::Set(d, 0.693146978f));
  p = hn::MulAdd(p, rest, hn::Set(d, 1.0f));
  const auto is_small = hn::Lt(y, hn::Set(d, -100.0f));
#if HWY_TARGET <= HWY_AVX3
  const auto power = hn::Vec<D>{_mm512_scalef_ps(p.raw, whole.raw)};
#else
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, hn::Max(whole, hn::Set(d, -126.0f))));
  const auto shifted = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
  const auto power = hn::IfThenElse(hn::IsNaN(y), y, shifted);
#endif
  return hn::IfThenZeroElse(is_small, power);
}

// Sums of a row's terms: of some thousand in float lanes, and those in double, so that a row of a
// hundred thousand keys sums to 1 as well as a short one does.
constexpr std::size_t kStretch = 2048;

// x[i] = 2^(factor · (x[i] - shift)) for one stretch, and 0 in the room past its end; the sum.
template <class D>
HWY_INLINE float powers(D d, float* x, std::size_t n, hn::Vec<D> shift, hn::Vec<D> factor,
                        RowEnd end) {
  constexpr std::size_t kChains = 4;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = n - end.count;
  const auto power = [&](auto value) HWY_ATTR {
    return power_of_two(d, hn::Mul(hn::Sub(value, shift), factor));
  };
  hn::Vec<D> sums[kChains] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto put = [&](float* at, std::size_t chain) HWY_ATTR {
    const auto value = power(hn::LoadU(d, at));
    hn::StoreU(value, d, at);
    sums[chain] = hn::Add(sums[chain], value);
  };
  std::size_t i = 0;
  for (; i + kChains * lanes <= whole; i += kChains * lanes) {
    for (std::size_t chain = 0; chain < kChains; ++chain) {
      put(x + i + chain * lanes, chain);
    }
  }
  for (; i < whole; i += lanes) {
    put(x + i, 0);
  }
  if (end.count > 0) {
    constexpr float kNothing = -std::numeric_limits<float>::infinity();
    const auto value = power(load_end(d, x + i, end, kNothing));
    store_end(d, value, x + i, end);
    sums[1] = hn::Add(sums[1], value);
  }
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void multiply_by(float* x, std::size_t n, float factor, RowEnd end) {
  const hn::ScalableTag<float> d;
  const auto by = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i < n - end.count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), by), d, x + i);
  }
  if (end.count > 0) {
    store_end(d, hn::Mul(load_end(d, x + i, end, 0.0f), by), x + i, end);
  }
}

void scale(float* x, std::size_t n, float factor) {
  multiply_by(x, n, factor, {n % hn::Lanes(hn::ScalableTag<float>()), false});
}

void fill_zeros(float* begin, float* end) {
  const hn::ScalableTag<float> d;
  for (; begin + hn::Lanes(d) <= end; begin += hn::Lanes(d)) {
    hn::StoreU(hn::Zero(d), d, begin);
  }
  for (; begin < end; ++begin) {
    *begin = 0.0f;
  }
}

// No number of a row is larger than -infinity: then nothing is visible, or there is nothing.
bool hide_all(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i] != -std::numeric_limits<float>::infinity()) {
      return false;  // NaN, which a maximum may pass over
    }
  }
  fill_zeros(x, x + n);
  return true;
}

// `room` >= n floats may be written; those past n become 0.
bool softmax(float* x, std::size_t n, std::size_t room, float factor, bool may_hide) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLog2E = 1.44269504088896340736f;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const RowEnd end{n % lanes, n - n % lanes + lanes <= room};
  const std::size_t whole = n - end.count;

  auto largest = hn::Set(d, -kInfinity);
  auto other_largest = largest;
  auto smallest = hn::Set(d, kInfinity);
  std::size_t i = 0;
  for (; i + 2 * lanes <= whole; i += 2 * lanes) {
    const auto value = hn::LoadU(d, x + i);
    const auto other = hn::LoadU(d, x + i + lanes);
    largest = hn::Max(largest, value);
    other_largest = hn::Max(other_largest, other);
    smallest = hn::Min(smallest, hn::Min(value, other));
  }
  if (i < whole) {
    const auto value = hn::LoadU(d, x + i);
    largest = hn::Max(largest, value);
    smallest = hn::Min(smallest, value);
  }
  if (end.count > 0) {
    const auto value = load_end(d, x + whole, end, x[whole]);
    other_largest = hn::Max(other_largest, value);
    smallest = hn::Min(smallest, value);
  }
  largest = hn::MaxOfLanes(d, hn::Max(largest, other_largest));
  const float most = hn::GetLane(largest);
  if (most == -kInfinity) {
    const bool is_hidden = (may_hide || n == 0) && hide_all(x, n);
    fill_zeros(x + n, x + room);
    return is_hidden;
  }
  if (!std::isfinite(most * factor) ||
      (!may_hide &&
       !hn::AllTrue(d, hn::Gt(hn::Mul(smallest, hn::Set(d, factor)), hn::Set(d, -kInfinity))))) {
    return false;
  }

  // Shifting by the largest makes its term 2^0: the sum is at least 1 and cannot overflow.
  const auto by = hn::Set(d, factor * kLog2E);
  double sum = 0.0;
  for (std::size_t begin = 0; begin < n; begin += kStretch) {
    const bool is_last = begin + kStretch >= n;
    sum += static_cast<double>(powers(d, x + begin, is_last ? n - begin : kStretch, largest, by,
                                      is_last ? end : RowEnd{0, false}));
  }
  if (!(sum >= 1.0)) {
    return false;  // NaN was among the numbers
  }
  multiply_by(x, n, static_cast<float>(1.0 / sum), end);
  const std::size_t written = end.count > 0 && end.has_room ? whole + lanes : n;
  fill_zeros(x + written, x + room);
  return true;
}

std::size_t softmax_rows(Matrix rows, const KeyRange* ranges, std::size_t first_key, float factor) {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    float* const x = rows.row_data(row);
    const bool is_empty = ranges[row].first >= ranges[row].end;
    const std::size_t begin = is_empty ? 0 : ranges[row].first - first_key;
    const std::size_t count = is_empty ? 0 : ranges[row].size();
    if (!softmax(x + begin, count, rows.cols - begin, factor, /*may_hide=*/false)) {
      return row;
    }
    fill_zeros(x, x + begin);
  }
  return rows.rows;
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
HWY_EXPORT(softmax);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(scale);
HWY_EXPORT(all_finite);

bool softmax(float* x, std::size_t n, float factor) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax)(x, n, n, factor, /*may_hide=*/true);
}

std::size_t softmax_rows(Matrix rows, std::span<const KeyRange> ranges, std::size_t first_key,
                         float factor) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax_rows)(rows, ranges.data(), first_key, factor);
}

void scale(std::span<float> x, float factor) noexcept {
  HWY_DYNAMIC_DISPATCH(scale)(x.data(), x.size(), factor);
}

bool all_finite(std::span<const float> values) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_finite)(values.data(), values.size());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
