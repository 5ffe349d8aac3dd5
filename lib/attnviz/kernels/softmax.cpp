// Softmax of rows, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/softmax.h"

#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/softmax.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include <hwy/cache_control.h>

#include "attnviz/kernels/map-inl.h"
#include "attnviz/kernels/powers-inl.h"

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

void scale(float* x, std::size_t n, float factor) {
  map_numbers(n, x,
              [&](auto d, auto load) HWY_ATTR { return hn::Mul(load(x), hn::Set(d, factor)); });
}

HWY_INLINE void fill_zeros(float* begin, float* end) {
  const hn::ScalableTag<float> d;
  for (; begin + hn::Lanes(d) <= end; begin += hn::Lanes(d)) {
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

// Some rows, a vector of each in turn: on a short one alone the processor mostly waits for results.
// A row's bits are the same in every group.
//
// kHasRoom: all rows have room for as many whole vectors as the longest needs.
template <std::size_t kRows, bool kHasRoom>
class RowGroup {
 public:
  RowGroup(const Row* rows, float sink) : rows_(rows), sink_(sink) {
    std::size_t fewest = rows[0].count;
    std::size_t most = rows[0].count;
    for (std::size_t r = 1; r < kRows; ++r) {
      fewest = HWY_MIN(fewest, rows[r].count);
      most = HWY_MAX(most, rows[r].count);
    }
    whole_ = fewest / kLanes * kLanes;
    end_ = (most + kLanes - 1) / kLanes * kLanes;
  }

  // All numbers are finite, as far as a maximum and a minimum show, and so is each times `factor`.
  HWY_INLINE bool find_largest(float factor, bool may_hide) {
    V smallest[kRows];
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      largest_[r] = hn::Set(d_, -kInfinity);
      smallest[r] = hn::Set(d_, kInfinity);
    }
    for_each_vector([&](std::size_t i, auto is_whole) HWY_ATTR {
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < kRows; ++r) {
        const V value = is_whole() ? hn::LoadU(d_, rows_[r].x + i) : load_end(r, i, *rows_[r].x);
        largest_[r] = hn::Max(largest_[r], value);
        smallest[r] = hn::Min(smallest[r], value);
      }
    });
    bool is_fine = true;
    V lowest = smallest[0];
    V farthest = hn::Zero(d_);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      lowest = hn::Min(lowest, smallest[r]);
      largest_[r] = hn::Max(hn::MaxOfLanes(d_, largest_[r]), hn::Set(d_, sink_ / factor));
      farthest = hn::Min(farthest, hn::Sub(smallest[r], largest_[r]));
      if (has_sink()) {
        const double below = static_cast<double>(sink_) -
                             static_cast<double>(largest(r)) * static_cast<double>(factor);
        sinks_[r] = std::exp(below);
      }
      is_fine &= std::isfinite(largest(r) * factor);
    }
    const V minus_infinity = hn::Set(d_, -kInfinity);
    is_fine &=
        may_hide || hn::AllTrue(d_, hn::Gt(hn::Mul(lowest, hn::Set(d_, factor)), minus_infinity));
    is_spread_ = !hn::AllTrue(
        d_, hn::Ge(hn::Mul(farthest, hn::Set(d_, factor * kLog2E)), hn::Set(d_, kSmall)));
    return is_fine;
  }
  HWY_INLINE float largest(std::size_t row) const { return hn::GetLane(largest_[row]); }

  // x[i] = 2^(factor · (x[i] - largest)), whose sum is at least 1 and cannot overflow. Returns the
  // first row that has a NaN, or kRows.
  HWY_INLINE std::size_t take_powers(float factor) {
    double sums[kRows] = {};
    for (std::size_t r = 0; r < kRows && has_sink(); ++r) {
      sums[r] = sinks_[r];
    }
    for (std::size_t begin = 0; begin < end_; begin += kStretch) {
      add_powers(begin, hn::Set(d_, factor), sums);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      constexpr double kLeastSum = 0.5;  // 1, but for the rounding of a largest sink
      if (!(sums[r] >= kLeastSum)) {
        return r;
      }
      by_[r] = static_cast<float>(1.0 / sums[r]);
      if (rows_[r].sink != nullptr) {
        *rows_[r].sink = has_sink() ? static_cast<float>(sinks_[r] / sums[r]) : 0.0f;
      }
    }
    return kRows;
  }

  HWY_INLINE void divide() {
    is_spread_ ? multiply(std::true_type()) : multiply(std::false_type());
    for (std::size_t r = 0; r < kRows; ++r) {
      fill_zeros(rows_[r], kHasRoom ? end_ : rows_[r].count);
    }
  }

 private:
  using D = hn::CappedTag<float, 16>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  HWY_INLINE bool has_sink() const { return sink_ > -kInfinity; }

  // By one over the sums; what would become subnormal becomes 0.
  template <class IsSpread>
  HWY_INLINE void multiply(IsSpread is_spread) const {
    for_each_vector([&](std::size_t i, auto is_whole) HWY_ATTR {
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < kRows; ++r) {
        V value = is_whole() ? hn::LoadU(d_, rows_[r].x + i) : load_end(r, i, 0.0f);
        if constexpr (is_spread()) {
          value = hn::IfThenElseZero(hn::Ge(value, hn::Set(d_, kLeast / by_[r])), value);
        }
        const V weight = hn::Mul(value, hn::Set(d_, by_[r]));
        put(is_whole, weight, r, i);
        if (kHasRoom && rows_[r].copy != nullptr) {
          hn::Stream(weight, d_, rows_[r].copy + i);
        }
      }
    });
  }

  HWY_INLINE std::size_t left(std::size_t row, std::size_t i) const {
    return HWY_MIN(kLanes, rows_[row].count - HWY_MIN(i, rows_[row].count));
  }
  HWY_INLINE V load_end(std::size_t row, std::size_t i, float filler) const {
    const float* from = rows_[row].x + i;
    if constexpr (kHasRoom) {
      return hn::IfThenElse(hn::FirstN(d_, left(row, i)), hn::LoadU(d_, from), hn::Set(d_, filler));
    } else {
      return load_some(d_, from, left(row, i), filler);
    }
  }
  template <class IsWhole>
  HWY_INLINE void put(IsWhole is_whole, V value, std::size_t row, std::size_t i) const {
    if constexpr (kHasRoom || is_whole()) {
      hn::StoreU(value, d_, rows_[row].x + i);
    } else {
      store_some(d_, value, rows_[row].x + i, left(row, i));
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
  HWY_INLINE void for_each_vector(const Work& work) const {
    for_each_vector(0, end_, work);
  }

  HWY_INLINE void add_powers(std::size_t begin, V factor, double* sums) {
    V even[kRows];
    V odd[kRows];
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      even[r] = hn::Zero(d_);
      odd[r] = hn::Zero(d_);
    }
    const auto add = [&](std::size_t i, auto is_whole, V* sum) HWY_ATTR {
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < kRows; ++r) {
        const V value = is_whole() ? hn::LoadU(d_, rows_[r].x + i) : load_end(r, i, -kInfinity);
        const V power = power_of_two(d_, hn::Mul(hn::Sub(value, largest_[r]), factor));
        put(is_whole, power, r, i);
        sum[r] = hn::Add(sum[r], power);
      }
    };
    const std::size_t end = HWY_MIN(begin + kStretch, end_);
    std::size_t i = begin;
    for (; i + 2 * kLanes <= HWY_MIN(end, whole_); i += 2 * kLanes) {
      add(i, std::true_type(), even);
      add(i + kLanes, std::true_type(), odd);
    }
    for_each_vector(i, end, [&](std::size_t at, auto is_whole) HWY_ATTR {
      add(at, is_whole, even);
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < kRows; ++r) {
        const V next = odd[r];
        odd[r] = even[r];
        even[r] = next;
      }
    });
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      const V sum = hn::SumOfLanes(d_, hn::Add(even[r], odd[r]));
      sums[r] += static_cast<double>(hn::GetLane(sum));
    }
  }

  const D d_;
  const Row* rows_;
  const float sink_;   // a logit
  std::size_t whole_;  // numbers in vectors that every row fills
  std::size_t end_;    // numbers in vectors that some row needs
  V largest_[kRows];
  float by_[kRows];
  double sinks_[kRows];  // the sink's terms of the sums
  bool is_spread_;       // some term may be smaller than 2^kSmall
};

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

bool has_room(const Row& row, std::size_t count) {
  const std::size_t lanes = hn::Lanes(hn::CappedTag<float, 16>());
  return (count + lanes - 1) / lanes * lanes <= row.room;
}

bool softmax_row(const Row& row, float factor, float sink) {
  return has_room(row, row.count) ? softmax_row<true>(row, factor, /*may_hide=*/false, sink)
                                  : softmax_row<false>(row, factor, /*may_hide=*/false, sink);
}

// As many rows as there are registers for, when they stay in the first-level cache together.
constexpr std::size_t kGroup = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr std::size_t kLongestOfGroup = 1024;

bool can_go_together(const Row* rows) {
  std::size_t most = 0;
  bool is_any_empty = false;
  for (std::size_t r = 0; r < kGroup; ++r) {
    most = HWY_MAX(most, rows[r].count);
    is_any_empty |= rows[r].count == 0;
  }
  bool have_room = true;
  for (std::size_t r = 0; r < kGroup; ++r) {
    have_room &= has_room(rows[r], most);
  }
  return have_room && !is_any_empty && most <= kLongestOfGroup;
}

// The first row that is refused, or kGroup.
std::size_t softmax_group(const Row* rows, float factor, float sink) {
  if (can_go_together(rows)) {
    RowGroup<kGroup, true> group(rows, sink);
    if (group.find_largest(factor, /*may_hide=*/false)) {
      const std::size_t refused = group.take_powers(factor * kLog2E);
      if (refused == kGroup) {
        group.divide();
      }
      return refused;
    }
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

bool all_finite(std::span<const float> values) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_finite)(values.data(), values.size());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
