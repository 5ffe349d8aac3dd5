// Softmax of rows, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/row_kernels.h"

#include <utility>

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

template <bool kHasRoom>
bool take_row(RowGroup<1, kHasRoom>& row, float factor, bool may_hide) {
  if (!row.find_largest(factor, may_hide)) {
    return row.hide(may_hide);
  }
  if (row.take_powers(factor * kLog2E, nullptr) == 0) {
    return false;
  }
  row.finish();
  return true;
}

bool softmax_row(const AllRows& all, std::size_t row, float factor, float sink, bool may_hide) {
  RowGroup<1, true> group;
  if (group.start(all, row, sink)) {
    return take_row(group, factor, may_hide);
  }
  RowGroup<1, false> bare;
  bare.start(all, row, sink);
  return take_row(bare, factor, may_hide);
}

bool softmax(float* x, std::size_t n, float factor, float sink, float* weight) {
  const KeyRange range{0, n};
  return softmax_row({{x, 1, n, n}, &range, 0, {}, weight}, 0, factor, sink, /*may_hide=*/true);
}

// As many rows as fit the registers.
constexpr std::size_t kMostRows = HWY_TARGET <= HWY_AVX3 ? 8 : 2;
// Limits the numbers, too: stores past the caches stall when too many follow one another.
constexpr std::size_t kMostNumbers = 2048;

// Groups of kRows rows, one after another. While the powers of one group are computed, the group
// before it is divided, so that arithmetic and stores past the caches alternate; the maxima of the
// group after it have been found before, so that nothing waits for them.
template <std::size_t kRows>
class GroupsOfRows {
 public:
  GroupsOfRows(const AllRows& all, float factor, float sink)
      : all_(all), factor_(factor), sink_(sink) {}

  // Processes as many groups as fit from `row` on. Returns the next row, or the one with an error.
  HWY_INLINE std::size_t take(std::size_t row, bool& is_refused) {
    for (;; row += kRows) {
      const bool is_next = row + kRows <= all_.rows.rows;
      const bool is_found = is_next && next_->start(all_, row, sink_) &&
                            next_->find_largest(factor_, /*may_hide=*/false);
      const std::size_t taken = take_powers();
      if (taken < kRows) {
        is_refused = true;
        return row - kRows + taken;
      }
      if (is_found) {
        std::swap(next_, found_);
        is_found_ = true;
        continue;
      }
      divide();
      if (!is_next) {
        return row;
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        if (!softmax_row(all_, row + r, factor_, sink_, /*may_hide=*/false)) {
          is_refused = true;
          return row + r;
        }
      }
    }
  }

 private:
  using Group = RowGroup<kRows, true>;

  // Computes the powers of the group whose maxima are known, if any. Returns its row with an error,
  // or kRows.
  HWY_INLINE std::size_t take_powers() {
    if (!is_found_) {
      return kRows;
    }
    is_found_ = false;
    const std::size_t taken = found_->take_powers(factor_ * kLog2E, is_left_ ? left_ : nullptr);
    divide();
    std::swap(found_, left_);
    is_left_ = true;
    return taken;
  }

  HWY_INLINE void divide() {
    if (is_left_) {
      left_->finish();
    }
    is_left_ = false;
  }

  const AllRows& all_;
  float factor_;
  float sink_;
  Group groups_[3];
  Group* next_ = &groups_[0];
  Group* found_ = &groups_[1];  // its maxima are known
  Group* left_ = &groups_[2];   // to be divided
  bool is_found_ = false;
  bool is_left_ = false;
};

// Processes as many groups as fit from `row` on. Returns the next row, or the one with an error.
template <std::size_t kRows>
std::size_t take_groups(const AllRows& all, std::size_t row, float factor, float sink,
                        bool& is_refused) {
  const std::size_t n_rows = all.rows.rows;
  if (is_refused || row + kRows > n_rows || (kRows > 1 && kRows * all.rows.cols > kMostNumbers)) {
    return row;
  }
  return GroupsOfRows<kRows>(all, factor, sink).take(row, is_refused);
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
  const std::size_t lanes = hn::Lanes(d);
  // 0 times infinity or NaN is NaN, which every sum keeps; eight independent sums need not wait.
  constexpr std::size_t kWide = 4;
  hn::Vec<decltype(d)> sums[2 * kWide];
  for (auto& sum : sums) {
    sum = hn::Zero(d);
  }
  const auto add = [&](const float* values, std::size_t sum) HWY_ATTR {
    sums[sum] = hn::MulAdd(hn::LoadU(d, values), hn::Zero(d), sums[sum]);
  };
  const std::size_t col = x.cols / (kWide * lanes) * (kWide * lanes);
  for (std::size_t row = 0; row < x.rows; row += 2) {
    const float* const first = x.row_data(row);
    const float* const second = x.row_data(HWY_MIN(row + 1, x.rows - 1));
    for (std::size_t begin = 0; begin < col; begin += kWide * lanes) {
      HWY_UNROLL(4)
      for (std::size_t i = 0; i < kWide; ++i) {
        add(first + begin + i * lanes, i);
        add(second + begin + i * lanes, kWide + i);
      }
    }
  }
  float rest = 0.0f;
  for (std::size_t row = 0; row < x.rows && col < x.cols; ++row) {
    const float* const values = x.row_data(row);
    std::size_t i = col;
    for (; i + lanes <= x.cols; i += lanes) {
      add(values + i, 0);
    }
    for (; i < x.cols; ++i) {
      rest += 0.0f * values[i];
    }
  }
  auto all = hn::Zero(d);
  for (const auto& sum : sums) {
    all = hn::Add(all, sum);
  }
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
