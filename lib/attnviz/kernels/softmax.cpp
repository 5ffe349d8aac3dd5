// Softmax of rows, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/softmax.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/softmax.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/map-inl.h"
#include "attnviz/kernels/row_group-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void scale(float* x, std::size_t n, float factor) {
  map_numbers(n, x,
              [&](auto d, auto load) HWY_ATTR { return hn::Mul(load(x), hn::Set(d, factor)); });
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

template <bool kHasRoom>
bool softmax_row(const Row& row, float factor, bool may_hide, float sink) {
  RowGroup<1, kHasRoom> group(&row, sink);
  if (!group.find_largest(factor, may_hide)) {
    const bool is_hidden = group.largest(0) == -std::numeric_limits<float>::infinity() &&
                           (may_hide || row.count == 0) && hide_all(row.x, row.count);
    fill_zeros(row, row.count);
    return is_hidden;
  }
  if (group.take_powers(factor * kLog2E) == 0) {
    return false;
  }
  group.divide();
  return true;
}

bool softmax(float* x, std::size_t n, float factor, float sink, float* weight) {
  return softmax_row<false>({x, n, n, nullptr, weight}, factor, /*may_hide=*/true, sink);
}

bool softmax_row(const Row& row, float factor, float sink) {
  const std::size_t lanes = hn::Lanes(hn::CappedTag<float, 16>());
  return (row.count + lanes - 1) / lanes * lanes <= row.room
             ? softmax_row<true>(row, factor, /*may_hide=*/false, sink)
             : softmax_row<false>(row, factor, /*may_hide=*/false, sink);
}

// As many rows as there are registers for.
constexpr std::size_t kGroup = HWY_TARGET <= HWY_AVX3 ? 8 : 2;

// The first row that is refused, or kGroup.
std::size_t softmax_group(const Row* rows, float factor, float sink) {
  RowGroup<kGroup, true> group(rows, sink);
  if (group.is_short() && group.find_largest(factor, /*may_hide=*/false)) {
    const std::size_t refused = group.take_powers(factor * kLog2E);
    if (refused == kGroup) {
      group.divide();
    }
    return refused;
  }
  std::size_t row = 0;
  while (row < kGroup && softmax_row(rows[row], factor, sink)) {
    ++row;
  }
  return row;
}

std::size_t softmax_rows(Matrix rows, const KeyRange* ranges, std::size_t first_key, float factor,
                         Matrix copy, float sink, float* weights) {
  const auto row_of = [&](std::size_t row) -> Row {
    float* const x = rows.row_data(row);
    const bool is_empty = ranges[row].first >= ranges[row].end;
    const std::size_t begin = is_empty ? 0 : ranges[row].first - first_key;
    fill_zeros(x, x + begin);
    return {x + begin, is_empty ? 0 : ranges[row].size(), rows.cols - begin,
            copy.empty() ? nullptr : copy.row_data(row),
            weights == nullptr ? nullptr : weights + row};
  };
  std::size_t row = 0;
  for (; row + kGroup <= rows.rows; row += kGroup) {
    Row group[kGroup];
    for (std::size_t r = 0; r < kGroup; ++r) {
      group[r] = row_of(row + r);
    }
    const std::size_t refused = softmax_group(group, factor, sink);
    if (refused < kGroup) {
      return row + refused;
    }
  }
  while (row < rows.rows && softmax_row(row_of(row), factor, sink)) {
    ++row;
  }
  if (!copy.empty()) {
    hwy::FlushStream();
  }
  return row;
}

bool all_finite(ConstMatrix x) {
  const hn::ScalableTag<float> d;
  const auto largest = hn::Set(d, std::numeric_limits<float>::max());
  auto finite = hn::Le(hn::Zero(d), largest);
  bool rest = true;
  for (std::size_t row = 0; row < x.rows; ++row) {
    const float* const values = x.row_data(row);
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= x.cols; i += hn::Lanes(d)) {
      finite = hn::And(finite, hn::Le(hn::Abs(hn::LoadU(d, values + i)), largest));
    }
    for (; i < x.cols; ++i) {
      rest &= values[i] - values[i] == 0.0f;  // infinity minus itself is NaN
    }
  }
  return rest && hn::AllTrue(d, finite);
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(softmax);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(scale);
HWY_EXPORT(all_finite);

bool softmax(float* x, std::size_t n, float factor, const SoftmaxSink& sink) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax)(x, n, factor, sink.logit,
                                       sink.weights.empty() ? nullptr : sink.weights.data());
}

std::size_t softmax_rows(Matrix rows, std::span<const KeyRange> ranges, std::size_t first_key,
                         float factor, Matrix copy, const SoftmaxSink& sink) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax_rows)(rows, ranges.data(), first_key, factor, copy,
                                            sink.logit,
                                            sink.weights.empty() ? nullptr : sink.weights.data());
}

void scale(std::span<float> x, float factor) noexcept {
  HWY_DYNAMIC_DISPATCH(scale)(x.data(), x.size(), factor);
}

bool all_finite(ConstMatrix x) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_finite)(x);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
