// Softmax of several rows at once, in registers. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_ROW_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_ROW_GROUP_INL_H_
#undef ATTNVIZ_KERNELS_ROW_GROUP_INL_H_
#else
#define ATTNVIZ_KERNELS_ROW_GROUP_INL_H_
#endif

#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/map-inl.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Terms are summed in float lanes, some thousand at a time, and these sums in double, so that a row
// of a hundred thousand keys sums to 1 as accurately as a short one.
constexpr std::size_t kStretch = 1024;

// Rows of scores; each has the columns of its range, counted from first_key. Its other columns
// become 0.
struct AllRows {
  Matrix rows;
  const KeyRange* ranges;
  std::size_t first_key;
  Matrix copy;   // receives nonzero weights, aligned, when whole vectors fit; or empty
  float* sinks;  // receive each row's weight on the sink; or nullptr
};

HWY_INLINE void fill_zeros(float* begin, float* end) {
  const hn::ScalableTag<float> d;
  // An empty range may have no address.
  for (; static_cast<std::size_t>(end - begin) >= hn::Lanes(d); begin += hn::Lanes(d)) {
    hn::StoreU(hn::Zero(d), d, begin);
  }
  for (; begin < end; ++begin) {
    *begin = 0.0f;
  }
}

#if HWY_TARGET != HWY_SCALAR
template <class D, class Combine>
HWY_INLINE hn::Vec<hn::Full128<float>> combine_blocks(D /*d*/, hn::Vec<D> x,
                                                      const Combine& combine) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return combine_blocks(half, combine(hn::LowerHalf(half, x), hn::UpperHalf(half, x)), combine);
  } else {
    return x;
  }
}
#endif

// Combines all lanes of each row, in the same order for any number of rows: halves of two rows side
// by side, then of four, and only then across blocks of four lanes.
template <class D, std::size_t kRows, class Combine>
HWY_INLINE void combine_lanes([[maybe_unused]] D d, const hn::Vec<D> (&rows)[kRows],
                              [[maybe_unused]] const Combine& combine, float* results) {
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint64_t, D> pairs;
  const auto side_by_side = [&](std::size_t a, std::size_t b) HWY_ATTR {
    const auto x = rows[HWY_MIN(a, kRows - 1)];
    const auto y = rows[HWY_MIN(b, kRows - 1)];
    return hn::BitCast(pairs, combine(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y)));
  };
  HWY_UNROLL(2)
  for (std::size_t r = 0; r < kRows; r += 4) {
    const auto first = side_by_side(r, r + 1);
    const auto second = r + 2 < kRows ? side_by_side(r + 2, r + 3) : first;
    const auto four = combine(hn::BitCast(d, hn::InterleaveLower(pairs, first, second)),
                              hn::BitCast(d, hn::InterleaveUpper(pairs, first, second)));
    const auto combined = combine_blocks(d, four, combine);
    if constexpr (kRows % 4 == 0) {
      hn::StoreU(combined, hn::Full128<float>(), results + r);
    } else {
      HWY_ALIGN float lanes[4];
      hn::Store(combined, hn::Full128<float>(), lanes);
      for (std::size_t i = 0; i < kRows; ++i) {
        results[r + i] = lanes[i];
      }
    }
  }
#else
  for (std::size_t r = 0; r < kRows; ++r) {
    results[r] = hn::GetLane(rows[r]);
  }
#endif
}

// Several rows, one vector of each in turn: with a single short row the processor mostly waits for
// results. A row's bits are the same in every group.
//
// kHasRoom: all rows have room for as many whole vectors as the longest needs.
template <std::size_t kRows, bool kHasRoom>
class RowGroup {
 public:
  // Starts with the rows from `first` on. Returns whether they are suitable: several rows must not
  // be empty, their ranges must be equally far apart, and kHasRoom must hold. Then columns before
  // their ranges become 0.
  HWY_INLINE bool start(const AllRows& all, std::size_t first, float sink) {
    KeyRange only = all.ranges[first];
    if (kRows == 1 && only.first >= only.end) {
      only = {all.first_key, all.first_key};
    }
    const KeyRange* const ranges = kRows == 1 ? &only : all.ranges + first;
    const std::size_t step = kRows == 1 ? 0 : ranges[kRows > 1].first - ranges[0].first;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;  // very large where a range ends before it begins
    std::size_t unevenness = 0;
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t count = ranges[r].end - ranges[r].first;
      counts_[r] = static_cast<std::int32_t>(count);
      fewest = HWY_MIN(fewest, count);
      most = HWY_MAX(most, count);
      unevenness |= (ranges[r].first - ranges[0].first) ^ (r * step);
    }
    const std::size_t first_begin = ranges[0].first - all.first_key;
    const std::size_t last_begin = ranges[kRows - 1].first - all.first_key;
    const std::size_t cols = all.rows.cols;
    room_ = cols - HWY_MAX(first_begin, last_begin);
    most_room_ = cols - HWY_MIN(first_begin, last_begin);
    whole_ = fewest / kLanes * kLanes;
    end_ = (most + kLanes - 1) / kLanes * kLanes;
    if (unevenness != 0 || (kRows > 1 && (fewest == 0 || most > cols)) ||
        (kHasRoom && end_ > room_)) {
      return false;
    }
    float* const row = all.rows.row_data(first);
    x_ = row + first_begin;
    stride_ = all.rows.stride + step;
    row_ends_ = row + cols;
    row_stride_ = all.rows.stride;
    copy_ = all.copy.empty() ? nullptr : all.copy.row_data(first);
    copy_stride_ = all.copy.empty() ? 0 : all.copy.stride;
    sink_ = sink;
    sinks_ = all.sinks == nullptr ? nullptr : all.sinks + first;
    divided_ = 0;
    for (std::size_t r = 0; r < kRows && room_ + most_room_ < 2 * cols; ++r) {
      fill_zeros(row + r * row_stride_, x_ + r * stride_);
    }
    return true;
  }

  // Finds the maxima. Returns whether all numbers, and their products with `factor`, are finite, as
  // far as a maximum and a minimum can show. Where there is room, a row's numbers are followed by
  // -infinity: from then on all vectors are whole.
  HWY_INLINE bool find_largest(float factor, bool may_hide) {
    V most[kRows];
    V least[kRows];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r) {
      most[r] = hn::Set(d_, -kInfinity);
      least[r] = hn::Set(d_, kInfinity);
    }
    for_each_vector(0, end_, [&](const auto& x, std::size_t i, auto is_whole) HWY_ATTR {
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kRows; ++r) {
        if constexpr (is_whole()) {
          const V value = hn::LoadU(d_, x.at(r));
          most[r] = hn::Max(most[r], value);
          least[r] = hn::Min(least[r], value);
        } else {
          const auto is_there = is_before_end(r, i);
          const V value = load_end(x.at(r), r, i, -kInfinity);
          most[r] = hn::Max(most[r], value);
          least[r] = hn::IfThenElse(is_there, hn::Min(least[r], value), least[r]);
          if (kHasRoom) {
            hn::StoreU(value, d_, x.at(r));
          }
        }
      }
    });
    if (kHasRoom) {
      whole_ = end_;
    }
    combine_lanes(
        d_, most, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); }, largest_);
    for (std::size_t r = 0; r < kRows && has_sink(); ++r) {
      const bool is_largest = sink_ / factor >= largest_[r];
      largest_[r] = HWY_MAX(largest_[r], sink_ / factor);
      // Rounding the quotient of a large sink changes the exponent by whole numbers.
      const double above =
          HWY_MIN(kMostOff, static_cast<double>(sink_) -
                                static_cast<double>(largest_[r]) * static_cast<double>(factor));
      sink_terms_[r] = std::exp(is_largest ? HWY_MAX(-kMostOff, above) : above);
    }
    bool is_fine = true;
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; r += hn::MaxLanes(some_)) {
      const auto product = hn::Mul(hn::LoadU(some_, largest_ + r), hn::Set(some_, factor));
      is_fine &= hn::AllTrue(some_, hn::Lt(hn::Abs(product), hn::Set(some_, kInfinity)));
    }
    // Row by row: a minimum may skip a number where the other is NaN; the sum of its own row keeps
    // the NaN, but that of another row does not.
    const V limit = hn::Set(d_, HWY_MAX(kSmall / (factor * kLog2E), -kMost));
    auto is_near = hn::Ge(hn::Sub(least[0], hn::Set(d_, largest_[0])), limit);
    HWY_UNROLL(8)
    for (std::size_t r = 1; r < kRows; ++r) {
      is_near = hn::And(is_near, hn::Ge(hn::Sub(least[r], hn::Set(d_, largest_[r])), limit));
    }
    is_spread_ = !hn::AllTrue(d_, is_near);
    if (is_spread_ && !may_hide) {
      for (std::size_t r = 0; r < kRows; ++r) {
        is_fine &= hn::AllFalse(
            d_, hn::Le(hn::Mul(least[r], hn::Set(d_, factor)), hn::Set(d_, -kInfinity)));
      }
    }
    return is_fine;
  }

  // x[i] = 2^(factor · (x[i] - largest)), whose sum is at least 1 and cannot overflow. Returns the
  // first row that has a NaN, or kRows. Meanwhile `undivided`, unless it is nullptr, is divided up
  // to the same column, so that arithmetic and stores past the caches alternate.
  HWY_INLINE std::size_t take_powers(float factor, RowGroup* undivided) {
    double sums[kRows] = {};
    if (has_sink()) {
      std::copy(sink_terms_, sink_terms_ + kRows, sums);
    }
    const bool is_spread = HWY_TARGET > HWY_AVX3 || is_spread_;  // only for speed
    for (std::size_t begin = 0; begin < end_; begin += kStretch) {
      is_spread ? add_powers(begin, hn::Set(d_, factor), sums, undivided, std::true_type())
                : add_powers(begin, hn::Set(d_, factor), sums, undivided, std::false_type());
    }
    bool is_fine = true;
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; r += hn::MaxLanes(few_)) {
      const auto sum = hn::LoadU(few_, sums + r);
      is_fine &= hn::AllTrue(few_, hn::Ge(sum, hn::Set(few_, kLeastSum)));
      hn::StoreU(hn::DemoteTo(narrow_, hn::Div(hn::Set(few_, 1.0), sum)), narrow_, by_ + r);
    }
    for (std::size_t r = 0; r < kRows && !is_fine; ++r) {
      if (!(sums[r] >= kLeastSum)) {
        return r;
      }
    }
    for (std::size_t r = 0; r < kRows && sinks_ != nullptr; ++r) {
      sinks_[r] = has_sink() ? static_cast<float>(sink_terms_[r] / sums[r]) : 0.0f;
    }
    return kRows;
  }

  // Divides the powers before `end` by their sums, from where the last call stopped.
  HWY_INLINE void divide(std::size_t end) {
    const std::size_t begin = divided_;
    divided_ = HWY_MIN(end, end_);
    const bool is_copied = kHasRoom && copy_ != nullptr;
    if (is_spread_) {
      is_copied ? multiply(begin, std::true_type(), std::true_type())
                : multiply(begin, std::true_type(), std::false_type());
    } else {
      is_copied ? multiply(begin, std::false_type(), std::true_type())
                : multiply(begin, std::false_type(), std::false_type());
    }
  }
  // Divides the rest; then writes zeros.
  HWY_INLINE void finish() {
    if (divided_ < end_) {
      divide(end_);
    }
    fill_zeros_from(kHasRoom ? end_ : static_cast<std::size_t>(counts_[0]));
  }

  // The copy is skipped: it has zeros there.
  HWY_INLINE void fill_zeros_from(std::size_t begin) const {
    RowCursor<kRows, float> x(x_ + begin, stride_);
    for (; begin + kLanes <= room_; begin += kLanes) {
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kRows; ++r) {
        hn::StoreU(hn::Zero(d_), d_, x.at(r));
      }
      x.advance(kLanes);
    }
    for (std::size_t r = 0; r < kRows && begin < most_room_; ++r) {
      fill_zeros(x_ + r * stride_ + begin, row_ends_ + r * row_stride_);
    }
  }

  // For a single row for which find_largest() returns false: if it is all hidden, it becomes zeros.
  HWY_INLINE bool hide(bool may_hide) {
    bool is_hidden = counts_[0] == 0 || (may_hide && largest_[0] == -kInfinity);
    for (std::int32_t i = 0; is_hidden && i < counts_[0]; ++i) {
      is_hidden = x_[i] == -kInfinity;  // or NaN, which a maximum may skip
    }
    if (is_hidden) {
      fill_zeros_from(0);
      if (sinks_ != nullptr) {
        sinks_[0] = 0.0f;
      }
    }
    return is_hidden;
  }

 private:
  using D = hn::CappedTag<float, 16>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kMost = std::numeric_limits<float>::max();
  static constexpr double kMostOff = 0.5;   // in the exponent of a largest sink, ideally 0
  static constexpr double kLeastSum = 0.5;  // 1, or exp(-kMostOff)

  HWY_INLINE bool has_sink() const { return sink_ > -kInfinity; }

  // Multiplies from `begin` to divided_; subnormal results become 0.
  template <class IsSpread, class IsCopied>
  HWY_INLINE void multiply(std::size_t begin, IsSpread is_spread, IsCopied is_copied) const {
    RowCursor<kRows, float> copy(copy_ + (is_copied() ? begin : 0), copy_stride_);
    for_each_vector(begin, divided_, [&](const auto& x, std::size_t i, auto is_whole) HWY_ATTR {
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kRows; ++r) {
        V value = is_whole() ? hn::LoadU(d_, x.at(r)) : load_end(x.at(r), r, i, 0.0f);
        if constexpr (is_spread()) {
          value = hn::IfThenElseZero(hn::Ge(value, hn::Set(d_, kLeast / by_[r])), value);
        }
        const V weight = hn::Mul(value, hn::Set(d_, by_[r]));
        put(is_whole, weight, x.at(r), r, i);
        if constexpr (is_copied()) {
          hn::Stream(weight, d_, copy.at(r));
        }
      }
      if constexpr (is_copied()) {
        copy.advance(kLanes);
      }
    });
  }

  // Which of the numbers from the i-th on belong to the row.
  HWY_INLINE hn::Mask<D> is_before_end(std::size_t row, std::size_t i) const {
    const hn::RebindToSigned<D> di;
    const auto places = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(i)));
    return hn::RebindMask(d_, hn::Lt(places, hn::Set(di, counts_[row])));
  }
  HWY_INLINE std::size_t count_from(std::size_t i, std::size_t row) const {
    const auto count = static_cast<std::size_t>(counts_[row]);
    return HWY_MIN(kLanes, count - HWY_MIN(i, count));
  }
  HWY_INLINE V load_end(const float* x, std::size_t row, std::size_t i, float filler) const {
    if constexpr (kHasRoom) {
      return hn::IfThenElse(is_before_end(row, i), hn::LoadU(d_, x), hn::Set(d_, filler));
    } else {
      return load_some(d_, x, count_from(i, row), filler);
    }
  }
  template <class IsWhole>
  HWY_INLINE void put(IsWhole is_whole, V value, float* x, std::size_t row, std::size_t i) const {
    if constexpr (kHasRoom || is_whole()) {
      hn::StoreU(value, d_, x);
    } else {
      store_some(d_, value, x, count_from(i, row));
    }
  }

  // Calls work(rows, i, whether the vector is whole in every row) for the vectors of [begin, end).
  template <class Work>
  HWY_INLINE void for_each_vector(std::size_t begin, std::size_t end, const Work& work) const {
    RowCursor<kRows, float> x(x_ + begin, stride_);
    const std::size_t whole = HWY_MIN(end, whole_);
    std::size_t i = begin;
    for (; i < whole; i += kLanes) {
      work(x, i, std::true_type());
      x.advance(kLanes);
    }
    if constexpr (kLanes > 1 || kRows > 1) {
      for (; i < end; i += kLanes) {
        work(x, i, std::false_type());
        x.advance(kLanes);
      }
    }
  }

  template <class IsSpread>
  HWY_INLINE void add_powers(std::size_t begin, V factor, double* sums, RowGroup* undivided,
                             IsSpread is_spread) {
    // Sixteen vectors at a time: measured as the best for rows of any length.
    constexpr std::size_t kStep = 16 / kRows * kLanes;
    V sum[kRows];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r) {
      sum[r] = hn::Zero(d_);
    }
    const std::size_t end = HWY_MIN(begin + kStretch, end_);
    for (; begin < end; begin += kStep) {
      const std::size_t step_end = HWY_MIN(begin + kStep, end);
      for_each_vector(begin, step_end, [&](const auto& x, std::size_t i, auto is_whole) HWY_ATTR {
        HWY_UNROLL(8)
        for (std::size_t r = 0; r < kRows; ++r) {
          const V value = is_whole() ? hn::LoadU(d_, x.at(r)) : load_end(x.at(r), r, i, -kInfinity);
          const V below = hn::Sub(value, hn::Set(d_, largest_[r]));
          const V power = power_of_two(d_, below, factor, is_spread);
          put(is_whole, power, x.at(r), r, i);
          sum[r] = hn::Add(sum[r], power);
        }
      });
      if (undivided != nullptr) {
        undivided->divide(step_end);
      }
    }
    float found[kRows];
    combine_lanes(
        d_, sum, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); }, found);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; r += hn::MaxLanes(few_)) {
      const auto wide = hn::PromoteTo(few_, hn::LoadU(narrow_, found + r));
      hn::StoreU(hn::Add(hn::LoadU(few_, sums + r), wide), few_, sums + r);
    }
  }

  const D d_{};
  const hn::CappedTag<float, HWY_MIN(kRows, 4)> some_{};  // one number of each of some rows
  const hn::CappedTag<double, HWY_MIN(kRows, 4)> few_{};
  const hn::Rebind<float, hn::CappedTag<double, HWY_MIN(kRows, 4)>> narrow_{};
  float* x_;            // numbers of the first row
  std::size_t stride_;  // distance from one row to the next
  float* row_ends_;     // of the first row
  std::size_t row_stride_;
  float* copy_;  // of the first row; or nullptr
  std::size_t copy_stride_;
  float* sinks_;       // each row's weight on the sink; or nullptr
  float sink_;         // a logit
  std::size_t whole_;  // numbers in vectors that are whole in every row
  std::size_t end_;    // numbers in vectors that any row needs
  std::size_t room_;   // of the row with the least room, then with the most
  std::size_t most_room_;
  std::size_t divided_;  // numbers that divide() has finished
  bool is_spread_;       // some term may be smaller than 2^kSmall
  std::int32_t counts_[kRows];
  float largest_[kRows];
  float by_[kRows];
  double sink_terms_[kRows];  // terms in the sums
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
