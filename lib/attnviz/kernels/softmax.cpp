// Softmax of rows, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/softmax.h"

#include <limits>
#include <type_traits>

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
  RowGroup<1, kHasRoom> group;
  group.start(&row, sink);
  if (!group.find_largest(factor, may_hide)) {
    const bool is_hidden = group.largest(0) == -std::numeric_limits<float>::infinity() &&
                           (may_hide || row.count == 0) && hide_all(row.x, row.count);
    fill_zeros(row, row.count);
    return is_hidden;
  }
  if (group.take_powers(factor * kLog2E, [](std::size_t) {}) == 0) {
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
constexpr std::size_t kMostRows = HWY_TARGET <= HWY_AVX3 ? 8 : 2;
// And no more numbers: stores past the caches wait for one another when too many come in a row.
constexpr std::size_t kMostNumbers = 4096;

// Groups of kRows rows, one after another. While the powers of one are taken, those before it are
// divided: arithmetic and stores past the caches take turns.
template <std::size_t kRows>
class GroupsOfRows {
 public:
  GroupsOfRows(float factor, float sink) : factor_(factor), sink_(sink) {}

  Row& row(std::size_t r) { return rows_[next_][r]; }

  // The first of the rows set that is refused, or kRows.
  std::size_t take() {
    RowGroup<kRows, true>& group = groups_[next_];
    RowGroup<kRows, true>* const before = is_left_ ? &groups_[1 - next_] : nullptr;
    group.start(rows_[next_], sink_);
    if (group.has_room() && group.find_largest(factor_, /*may_hide=*/false)) {
      const std::size_t refused =
          group.take_powers(factor_ * kLog2E, [before](std::size_t end) HWY_ATTR {
            if (before != nullptr) {
              before->divide(end);
            }
          });
      finish();
      next_ = 1 - next_;
      is_left_ = true;
      return refused;
    }
    finish();
    std::size_t row = 0;
    while (row < kRows && softmax_row(rows_[next_][row], factor_, sink_)) {
      ++row;
    }
    return row;
  }

  void finish() {
    if (is_left_) {
      groups_[1 - next_].divide();
    }
    is_left_ = false;
  }

 private:
  float factor_;
  float sink_;
  std::size_t next_ = 0;
  bool is_left_ = false;  // to be divided: the group before the next
  Row rows_[2][kRows];
  RowGroup<kRows, true> groups_[2];
};

// What softmax_rows() is given.
struct AllRows {
  Matrix rows;
  const KeyRange* ranges;
  std::size_t first_key;
  Matrix copy;
  float* weights;

  HWY_INLINE Row row(std::size_t row) const {
    float* const x = rows.row_data(row);
    const KeyRange range = ranges[row];
    float* const copied = copy.empty() ? nullptr : copy.row_data(row);
    float* const weight = weights == nullptr ? nullptr : weights + row;
    if (range.first >= range.end) {
      return {x, 0, rows.cols, copied, weight};
    }
    const std::size_t begin = range.first - first_key;
    fill_zeros(x, x + begin);
    return {x + begin, range.end - range.first, rows.cols - begin, copied, weight};
  }
};

// From `row` on, as many groups as there are; which row follows, or is refused.
template <std::size_t kRows>
std::size_t take_groups(const AllRows all, std::size_t row, float factor, float sink,
                        bool& is_refused) {
  const std::size_t n_rows = all.rows.rows;
  if (is_refused || row + kRows > n_rows || (kRows > 1 && kRows * all.rows.cols > kMostNumbers)) {
    return row;
  }
  GroupsOfRows<kRows> groups(factor, sink);
  while (row + kRows <= n_rows && !is_refused) {
    for (std::size_t r = 0; r < kRows; ++r) {
      groups.row(r) = all.row(row + r);
    }
    const std::size_t n_taken = groups.take();
    is_refused = n_taken < kRows;
    row += n_taken;
  }
  groups.finish();
  return row;
}

std::size_t softmax_rows(Matrix rows, const KeyRange* ranges, std::size_t first_key, float factor,
                         Matrix copy, float sink, float* weights) {
  const AllRows all{rows, ranges, first_key, copy, weights};
  bool is_refused = false;
  std::size_t row = take_groups<kMostRows>(all, 0, factor, sink, is_refused);
  row = take_groups<kMostRows / 2>(all, row, factor, sink, is_refused);
  row = take_groups<HWY_MAX(1, kMostRows / 4)>(all, row, factor, sink, is_refused);
  return take_groups<1>(all, row, factor, sink, is_refused);
}

bool all_finite(ConstMatrix x) {
  const hn::ScalableTag<float> d;
  // Infinity and NaN times 0 are NaN, which every sum keeps.
  constexpr std::size_t kSums = 4;
  hn::Vec<decltype(d)> sums[kSums];
  for (auto& sum : sums) {
    sum = hn::Zero(d);
  }
  const auto add = [&](const float* values, std::size_t i) HWY_ATTR {
    sums[i] = hn::MulAdd(hn::LoadU(d, values + i * hn::Lanes(d)), hn::Zero(d), sums[i]);
  };
  float rest = 0.0f;
  for (std::size_t row = 0; row < x.rows; ++row) {
    const float* const values = x.row_data(row);
    std::size_t i = 0;
    for (; i + kSums * hn::Lanes(d) <= x.cols; i += kSums * hn::Lanes(d)) {
      HWY_UNROLL(4)
      for (std::size_t sum = 0; sum < kSums; ++sum) {
        add(values + i, sum);
      }
    }
    for (; i + hn::Lanes(d) <= x.cols; i += hn::Lanes(d)) {
      add(values + i, 0);
    }
    for (; i < x.cols; ++i) {
      rest += 0.0f * values[i];
    }
  }
  const auto all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return rest == 0.0f && hn::AllTrue(d, hn::Eq(all, hn::Zero(d)));
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
