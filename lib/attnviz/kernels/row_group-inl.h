// Softmax of some rows at once, in registers. Included once per SIMD target.

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

#include "attnviz/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums of a row's terms: of some thousand in float lanes, and those in double, so that a row of a
// hundred thousand keys sums to 1 as well as a short one does.
constexpr std::size_t kStretch = 1024;

// Numbers with room behind them, which is filled with zeros.
struct Row {
  float* x;
  std::size_t count;
  std::size_t room;  // `count` included
  float* copy;       // of it all, aligned, when there is room for whole vectors; or nullptr
  float* sink;       // gets the weight that goes to no key; or nullptr
};

HWY_INLINE void fill_zeros(float* begin, float* end) {
  const hn::ScalableTag<float> d;
  // Of nothing there may be no address.
  for (; static_cast<std::size_t>(end - begin) >= hn::Lanes(d); begin += hn::Lanes(d)) {
    hn::StoreU(hn::Zero(d), d, begin);
  }
  for (; begin < end; ++begin) {
    *begin = 0.0f;
  }
}

// From `begin` on, in its copy too.
HWY_INLINE void fill_zeros(const Row& row, std::size_t begin) {
  fill_zeros(row.x + begin, row.x + row.room);
  const hn::CappedTag<float, 16> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = (begin + lanes - 1) / lanes * lanes; row.copy && i < row.room; i += lanes) {
    hn::Stream(hn::Zero(d), d, row.copy + i);
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

// All lanes of each of some rows combined, in the same order however many rows there are: halves of
// two rows side by side, then of four, and only then across blocks of four lanes.
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

// Some rows, a vector of each in turn: on a short one alone the processor mostly waits for results.
// A row's bits are the same in every group.
//
// kHasRoom: all rows have room for as many whole vectors as the longest needs.
template <std::size_t kRows, bool kHasRoom>
class RowGroup {
 public:
  // Of `rows`, which stay where they are.
  HWY_INLINE void start(const Row* rows, float sink) {
    rows_ = rows;
    sink_ = sink;
    divided_ = 0;
    fewest_ = rows[0].count;
    most_room_ = rows[0].room;
    room_ = rows[0].room;
    std::size_t most = rows[0].count;
    for (std::size_t r = 0; r < kRows; ++r) {
      sinks_[r] = 0.0;
      x_[r] = rows[r].x;
      fewest_ = HWY_MIN(fewest_, rows[r].count);
      most = HWY_MAX(most, rows[r].count);
      most_room_ = HWY_MAX(most_room_, rows[r].room);
      room_ = HWY_MIN(room_, rows[r].room);
    }
    whole_ = fewest_ / kLanes * kLanes;
    end_ = (most + kLanes - 1) / kLanes * kLanes;
  }

  // Whether every row has numbers, and what the template asks for.
  HWY_INLINE bool has_room() const { return fewest_ > 0 && end_ <= room_; }

  // All numbers are finite, as far as a maximum and a minimum show, and so is each times `factor`.
  // Where there is room, -infinity follows a row's numbers: from then on all vectors are whole.
  HWY_INLINE bool find_largest(float factor, bool may_hide) {
    V most[kRows];
    V least[kRows];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r) {
      most[r] = hn::Set(d_, -kInfinity);
      least[r] = hn::Set(d_, kInfinity);
    }
    for_each_vector(0, end_, [&](std::size_t i, auto is_whole) HWY_ATTR {
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kRows; ++r) {
        V value = is_whole() ? hn::LoadU(d_, x_[r] + i) : load_end(r, i, -kInfinity);
        most[r] = hn::Max(most[r], value);
        if constexpr (!is_whole()) {
          if (kHasRoom) {
            hn::StoreU(value, d_, x_[r] + i);
          }
          value = hn::IfThenElse(hn::FirstN(d_, left(r, i)), value, hn::Set(d_, kInfinity));
        }
        least[r] = hn::Min(least[r], value);
      }
    });
    if (kHasRoom) {
      whole_ = end_;
    }
    // Row by row: a minimum may pass over -infinity where the other number is NaN, which the sum of
    // its own row keeps, but not that of another.
    auto is_hidden = hn::Le(hn::Mul(least[0], hn::Set(d_, factor)), hn::Set(d_, -kInfinity));
    V lowest = least[0];
    HWY_UNROLL(8)
    for (std::size_t r = 1; r < kRows; ++r) {
      is_hidden = hn::Or(is_hidden,
                         hn::Le(hn::Mul(least[r], hn::Set(d_, factor)), hn::Set(d_, -kInfinity)));
      lowest = hn::Min(lowest, least[r]);
    }
    combine_lanes(
        d_, most, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); }, largest_);
    if (has_sink()) {
      for (std::size_t r = 0; r < kRows; ++r) {
        largest_[r] = HWY_MAX(largest_[r], sink_ / factor);
        sinks_[r] = std::exp(static_cast<double>(sink_) -
                             static_cast<double>(largest_[r]) * static_cast<double>(factor));
      }
    }
    bool is_fine = may_hide || hn::AllFalse(d_, is_hidden);
    float largest = largest_[0];
    for (std::size_t r = 0; r < kRows; ++r) {
      largest = HWY_MAX(largest, largest_[r]);
      is_fine &= std::isfinite(largest_[r] * factor);
    }
    const float farthest = hn::GetLane(hn::MinOfLanes(d_, lowest)) - largest;
    is_spread_ = !(farthest * (factor * kLog2E) >= kSmall);
    return is_fine;
  }
  HWY_INLINE float largest(std::size_t row) const { return largest_[row]; }

  // x[i] = 2^(factor · (x[i] - largest)), whose sum is at least 1 and cannot overflow. Returns the
  // first row that has a NaN, or kRows. meanwhile(end) is called whenever the numbers before `end`
  // are done.
  template <class Work>
  HWY_INLINE std::size_t take_powers(float factor, const Work& meanwhile) {
    double sums[kRows];
    std::copy(sinks_, sinks_ + kRows, sums);
    for (std::size_t begin = 0; begin < end_; begin += kStretch) {
      add_powers(begin, hn::Set(d_, factor), sums, meanwhile);
    }
    bool is_fine = true;
    for (std::size_t r = 0; r < kRows; ++r) {
      by_[r] = static_cast<float>(1.0 / sums[r]);
      is_fine &= sums[r] >= kLeastSum;
    }
    for (std::size_t r = 0; r < kRows && !is_fine; ++r) {
      if (!(sums[r] >= kLeastSum)) {
        return r;
      }
    }
    for (std::size_t r = 0; r < kRows && rows_[0].sink != nullptr; ++r) {
      *rows_[r].sink = static_cast<float>(sinks_[r] / sums[r]);
    }
    return kRows;
  }

  // The powers before `end` by their sums, as far as that is not done yet.
  HWY_INLINE void divide(std::size_t end) {
    const std::size_t begin = divided_;
    divided_ = HWY_MIN(end, end_);
    const bool is_copied = kHasRoom && rows_[0].copy != nullptr;
    if (is_spread_) {
      is_copied ? multiply(begin, std::true_type(), std::true_type())
                : multiply(begin, std::true_type(), std::false_type());
    } else {
      is_copied ? multiply(begin, std::false_type(), std::true_type())
                : multiply(begin, std::false_type(), std::false_type());
    }
  }
  // The rest of them; then zeros.
  HWY_INLINE void divide() {
    divide(end_);
    const bool is_copied = kHasRoom && rows_[0].copy != nullptr;
    const std::size_t filled = kHasRoom ? HWY_MAX(end_, room_ / kLanes * kLanes) : rows_[0].count;
    for (std::size_t i = end_; kHasRoom && i < filled; i += kLanes) {
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kRows; ++r) {
        hn::StoreU(hn::Zero(d_), d_, x_[r] + i);
        if (is_copied) {
          hn::Stream(hn::Zero(d_), d_, rows_[r].copy + i);
        }
      }
    }
    for (std::size_t r = 0; r < kRows && filled < most_room_; ++r) {
      fill_zeros(rows_[r], filled);
    }
  }

 private:
  using D = hn::CappedTag<float, 16>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr double kLeastSum = 0.5;  // 1, but for the rounding of a largest sink

  HWY_INLINE bool has_sink() const { return sink_ > -kInfinity; }

  // From `begin` to divided_; what would become subnormal becomes 0.
  template <class IsSpread, class IsCopied>
  HWY_INLINE void multiply(std::size_t begin, IsSpread is_spread, IsCopied is_copied) const {
    float* copy[kRows];
    for (std::size_t r = 0; r < kRows; ++r) {
      copy[r] = rows_[r].copy;
    }
    for_each_vector(begin, divided_, [&](std::size_t i, auto is_whole) HWY_ATTR {
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < kRows; ++r) {
        V value = is_whole() ? hn::LoadU(d_, x_[r] + i) : load_end(r, i, 0.0f);
        if constexpr (is_spread()) {
          value = hn::IfThenElseZero(hn::Ge(value, hn::Set(d_, kLeast / by_[r])), value);
        }
        const V weight = hn::Mul(value, hn::Set(d_, by_[r]));
        put(is_whole, weight, r, i);
        if constexpr (is_copied()) {
          hn::Stream(weight, d_, copy[r] + i);
        }
      }
    });
  }

  HWY_INLINE std::size_t left(std::size_t row, std::size_t i) const {
    return HWY_MIN(kLanes, rows_[row].count - HWY_MIN(i, rows_[row].count));
  }
  HWY_INLINE V load_end(std::size_t row, std::size_t i, float filler) const {
    const float* from = x_[row] + i;
    if constexpr (kHasRoom) {
      return hn::IfThenElse(hn::FirstN(d_, left(row, i)), hn::LoadU(d_, from), hn::Set(d_, filler));
    } else {
      return load_some(d_, from, left(row, i), filler);
    }
  }
  template <class IsWhole>
  HWY_INLINE void put(IsWhole is_whole, V value, std::size_t row, std::size_t i) const {
    if constexpr (kHasRoom || is_whole()) {
      hn::StoreU(value, d_, x_[row] + i);
    } else {
      store_some(d_, value, x_[row] + i, left(row, i));
    }
  }

  // work(first, whether the vector is whole in every row) for the vectors of [begin, end).
  template <class Work>
  HWY_INLINE void for_each_vector(std::size_t begin, std::size_t end, const Work& work) const {
    std::size_t i = begin;
    for (; i < HWY_MIN(end, whole_); i += kLanes) {
      work(i, std::true_type());
    }
    if constexpr (kLanes > 1 || kRows > 1) {
      for (; i < end; i += kLanes) {
        work(i, std::false_type());
      }
    }
  }

  template <class Work>
  HWY_INLINE void add_powers(std::size_t begin, V factor, double* sums, const Work& meanwhile) {
    // Sixteen vectors at a time: measured to be best for rows of any length.
    constexpr std::size_t kStep = 16 / kRows * kLanes;
    V sum[kRows];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < kRows; ++r) {
      sum[r] = hn::Zero(d_);
    }
    const std::size_t end = HWY_MIN(begin + kStretch, end_);
    for (; begin < end; begin += kStep) {
      const std::size_t step_end = HWY_MIN(begin + kStep, end);
      for_each_vector(begin, step_end, [&](std::size_t i, auto is_whole) HWY_ATTR {
        HWY_UNROLL(8)
        for (std::size_t r = 0; r < kRows; ++r) {
          const V value = is_whole() ? hn::LoadU(d_, x_[r] + i) : load_end(r, i, -kInfinity);
          const V below = hn::Sub(value, hn::Set(d_, largest_[r]));
          const V power = power_of_two(d_, hn::Mul(below, factor));
          put(is_whole, power, r, i);
          sum[r] = hn::Add(sum[r], power);
        }
      });
      meanwhile(step_end);
    }
    float found[kRows];
    combine_lanes(
        d_, sum, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); }, found);
    for (std::size_t r = 0; r < kRows; ++r) {
      sums[r] += static_cast<double>(found[r]);
    }
  }

  const D d_{};
  const Row* rows_;    // all with copies or none, and with sinks or none
  float sink_;         // a logit
  std::size_t whole_;  // numbers in vectors that every row fills
  std::size_t end_;    // numbers in vectors that some row needs
  std::size_t fewest_;
  std::size_t room_;  // that every row has
  std::size_t most_room_;
  std::size_t divided_;  // numbers that divide() is done with
  float* x_[kRows];
  float largest_[kRows];
  float by_[kRows];
  double sinks_[kRows];  // the sink's terms of the sums
  bool is_spread_;       // some term may be smaller than 2^kSmall
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
