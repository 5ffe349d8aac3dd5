// Scores and softmax, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/attention_kernels.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/attention_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// --- scores ---

constexpr std::size_t kKeys = KeyPanels::kKeys;

struct ScoreTile {
  const float* query;  // its first row
  std::size_t query_stride;
  const float* panel;  // its first panel
  std::size_t d_head;
  float* scores;  // its first row and column
  std::size_t score_stride;
};

// kRows queries by kPanels panels of keys, in registers.
template <std::size_t kRows, std::size_t kPanels>
HWY_INLINE void compute_scores(const ScoreTile& tile) {
  const hn::CappedTag<float, kKeys> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::CappedTag<float, kKeys>());
  constexpr std::size_t kPerPanel = kKeys / kLanes;
  constexpr std::size_t kVectors = kPanels * kPerPanel;
  hn::Vec<decltype(d)> sum[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Zero(d);
    }
  }
  const std::size_t panel_size = tile.d_head * kKeys;
  for (std::size_t k = 0; k < tile.d_head; ++k) {
    hn::Vec<decltype(d)> keys[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      keys[v] =
          hn::Load(d, tile.panel + v / kPerPanel * panel_size + k * kKeys + v % kPerPanel * kLanes);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto query = hn::Set(d, tile.query[r * tile.query_stride + k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(query, keys[v], sum[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], d, tile.scores + r * tile.score_stride + v * kLanes);
    }
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR
inline constexpr std::size_t kScorePanels = 2;
inline constexpr std::size_t kScoreRows = 12;
#else
inline constexpr std::size_t kScorePanels = 1;
inline constexpr std::size_t kScoreRows = HWY_LANES(float) >= 8 ? 6 : HWY_LANES(float) == 4 ? 2 : 1;
#endif

template <std::size_t kRows>
HWY_INLINE void compute_scores(const ScoreTile& tile, std::size_t panels) {
  if (panels == kScorePanels) {
    compute_scores<kRows, kScorePanels>(tile);
  } else {
    compute_scores<kRows, 1>(tile);
  }
}

// The union of the ranges of some rows; empty ranges count for nothing.
KeyRange joined(const KeyRange* ranges, std::size_t count) {
  KeyRange all{std::numeric_limits<std::size_t>::max(), 0};
  for (std::size_t row = 0; row < count; ++row) {
    if (ranges[row].first < ranges[row].end) {
      all.first = HWY_MIN(all.first, ranges[row].first);
      all.end = HWY_MAX(all.end, ranges[row].end);
    }
  }
  return all.end == 0 ? KeyRange{} : all;
}

void attention_scores(ConstMatrix query, const KeyPanels& keys, const KeyRange* ranges,
                      std::size_t first_key, Matrix scores) {
  const KeyRange all = joined(ranges, query.rows);
  // A pair of panels stays in the first-level cache while all rows pass over it.
  for (std::size_t panel = all.first / kKeys; panel * kKeys < all.end; panel += kScorePanels) {
    const std::size_t begin = panel * kKeys;
    for_each_row_tile<kScoreRows>(query.rows, [&](auto rows, std::size_t row) HWY_ATTR {
      const KeyRange seen = joined(ranges + row, rows());
      if (seen.end <= begin || seen.first >= begin + kScorePanels * kKeys) {
        return;
      }
      const std::size_t panels = HWY_MIN(kScorePanels, (seen.end - begin + kKeys - 1) / kKeys);
      compute_scores<rows()>({query.row_data(row), query.stride, keys.panel(panel), query.cols,
                              scores.row_data(row) + (begin - first_key), scores.stride},
                             panels);
    });
  }
}

// --- softmax ---

// A row is whole vectors and a last one that may be shorter: lanes past its end are `filler` when
// loaded, and not stored.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const float* from, std::size_t count, float filler) {
#if HWY_TARGET <= HWY_AVX2 && HWY_TARGET != HWY_SCALAR
  const auto is_there = hn::FirstN(d, count);
  return hn::IfThenElse(is_there, hn::MaskedLoad(is_there, d, from), hn::Set(d, filler));
#else
  HWY_ALIGN float lanes[HWY_LANES(float)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    lanes[i] = i < count ? from[i] : filler;
  }
  return hn::Load(d, lanes);
#endif
}

template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> value, float* to, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2 && HWY_TARGET != HWY_SCALAR
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(value, d, lanes);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = lanes[i];
  }
#endif
}

struct Extremes {
  float largest;
  float smallest;
  bool usable;  // no NaN, no +infinity
};

Extremes extremes(const float* x, std::size_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto infinity = hn::Set(d, kInfinity);
  auto largest0 = hn::Neg(infinity);
  auto largest1 = largest0;
  auto smallest = infinity;
  auto usable = hn::Lt(largest0, infinity);
  const auto take = [&](auto value, auto& largest) HWY_ATTR {
    usable = hn::And(usable, hn::Lt(value, infinity));  // false for NaN, too
    largest = hn::Max(largest, value);
    smallest = hn::Min(smallest, value);
  };
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    take(hn::LoadU(d, x + i), largest0);
    take(hn::LoadU(d, x + i + lanes), largest1);
  }
  if (i + lanes <= n) {
    take(hn::LoadU(d, x + i), largest0);
    i += lanes;
  }
  if (i < n) {
    take(load_first(d, x + i, n - i, x[i]), largest1);
  }
  return {hn::GetLane(hn::MaxOfLanes(d, hn::Max(largest0, largest1))),
          hn::GetLane(hn::MinOfLanes(d, smallest)), hn::AllTrue(d, usable)};
}

// 2^y for y <= 0, within 2e-7 of it; 0 below 2^-100, so that what is left of it after a division by
// the number of keys is no subnormal number, which would take a hundred times as long.
//
// y is a whole number and a rest in [-1/2, 1/2], for which a polynomial of degree 6 stands:
// Taylor's with the last coefficients moved a little to spread the error.
template <class D>
HWY_INLINE hn::Vec<D> power_of_two(D d, hn::Vec<D> y) {
  const auto whole = hn::Round(y);
  const auto rest = hn::Sub(y, whole);
  auto p = hn::Set(d, 1.5403530e-4f);
  p = hn::MulAdd(p, rest, hn::Set(d, 1.3333558e-3f));
  p = hn::MulAdd(p, rest, hn::Set(d, 9.6181291e-3f));
  p = hn::MulAdd(p, rest, hn::Set(d, 5.5504109e-2f));
  p = hn::MulAdd(p, rest, hn::Set(d, 2.4022651e-1f));
  p = hn::MulAdd(p, rest, hn::Set(d, 6.9314718e-1f));
  p = hn::MulAdd(p, rest, hn::Set(d, 1.0f));
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, hn::Max(whole, hn::Set(d, -126.0f))));
  const auto power = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
  return hn::IfThenElseZero(hn::Ge(y, hn::Set(d, -100.0f)), power);
}

// x[i] = 2^(factor · (x[i] - shift)); the sum of these.
double powers(float* x, std::size_t n, float shift, float factor) {
  // Each stretch is summed in float lanes and the stretches in double, so that a row of a hundred
  // thousand keys sums to 1 as well as a short one does.
  constexpr std::size_t kStretch = 2048;
  constexpr std::size_t kChains = 4;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto power = [&](auto value) HWY_ATTR {
    return power_of_two(d, hn::Mul(hn::Sub(value, hn::Set(d, shift)), hn::Set(d, factor)));
  };
  double total = 0.0;
  for (std::size_t begin = 0; begin < n; begin += kStretch) {
    const std::size_t end = HWY_MIN(begin + kStretch, n);
    hn::Vec<decltype(d)> sums[kChains] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    const auto whole = [&](float* at, std::size_t chain) HWY_ATTR {
      const auto value = power(hn::LoadU(d, at));
      hn::StoreU(value, d, at);
      sums[chain] = hn::Add(sums[chain], value);
    };
    std::size_t i = begin;
    for (; i + kChains * lanes <= end; i += kChains * lanes) {
      for (std::size_t chain = 0; chain < kChains; ++chain) {
        whole(x + i + chain * lanes, chain);
      }
    }
    for (; i + lanes <= end; i += lanes) {
      whole(x + i, 0);
    }
    if (i < end) {
      constexpr float kNothing = -std::numeric_limits<float>::infinity();
      const auto value = power(load_first(d, x + i, end - i, kNothing));
      store_first(d, value, x + i, end - i);
      sums[1] = hn::Add(sums[1], value);
    }
    const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  return total;
}

void multiply_by(float* x, std::size_t n, float factor) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
  }
  if (i < n) {
    const auto last = hn::Mul(load_first(d, x + i, n - i, 0.0f), hn::Set(d, factor));
    store_first(d, last, x + i, n - i);
  }
}

void fill_zeros(float* begin, float* end) {
  const hn::ScalableTag<float> d;
  for (; begin + hn::Lanes(d) <= end; begin += hn::Lanes(d)) {
    hn::StoreU(hn::Zero(d), d, begin);
  }
  if (begin < end) {
    store_first(d, hn::Zero(d), begin, static_cast<std::size_t>(end - begin));
  }
}

bool softmax(float* x, std::size_t n, float factor, bool may_hide) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLog2E = 1.44269504088896340736f;
  const Extremes found = extremes(x, n);
  if (!found.usable || (found.smallest == -kInfinity && !may_hide)) {
    return false;
  }
  if (found.largest == -kInfinity) {
    fill_zeros(x, x + n);  // nothing is visible, or there is nothing
    return true;
  }
  if (!std::isfinite(found.largest * factor)) {
    return false;
  }
  // Shifting by the largest makes its term 2^0: the sum is at least 1 and cannot overflow.
  const double sum = powers(x, n, found.largest, factor * kLog2E);
  multiply_by(x, n, static_cast<float>(1.0 / sum));
  return true;
}

std::size_t softmax_rows(Matrix rows, const KeyRange* ranges, std::size_t first_key, float factor) {
  for (std::size_t row = 0; row < rows.rows; ++row) {
    float* const x = rows.row_data(row);
    const bool is_empty = ranges[row].first >= ranges[row].end;
    float* const begin = is_empty ? x : x + (ranges[row].first - first_key);
    float* const end = is_empty ? x : x + (ranges[row].end - first_key);
    if (!softmax(begin, static_cast<std::size_t>(end - begin), factor, /*may_hide=*/false)) {
      return row;
    }
    fill_zeros(x, begin);
    fill_zeros(end, x + rows.cols);
  }
  return rows.rows;
}

// --- mixtures of values ---

// Adds the rows of `value`, each times its weight, to the tile, or starts it with them.
template <std::size_t kRows, std::size_t kVectors, class D>
HWY_INLINE void mix_tile(D d, const float* weights, std::size_t weight_stride, ConstMatrix value,
                         bool is_first, float* context, std::size_t context_stride) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = is_first ? hn::Zero(d) : hn::LoadU(d, context + r * context_stride + v * lanes);
    }
  }
  const float* row = value.data;
  for (std::size_t j = 0; j < value.rows; ++j, row += value.stride) {
    hn::Vec<D> values[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      values[v] = hn::LoadU(d, row + v * lanes);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto weight = hn::Set(d, weights[r * weight_stride + j]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(weight, values[v], sum[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], d, context + r * context_stride + v * lanes);
    }
  }
}

// The columns of `value` and `context` that kVectors vectors hold.
template <std::size_t kVectors, std::size_t kTallest, class D>
HWY_INLINE void mix_columns(D d, ConstMatrix weights, ConstMatrix value, const KeyRange* ranges,
                            std::size_t first_key, Matrix context) {
  // As many values as stay in the first-level cache beside the weights.
  const std::size_t chunk = HWY_MAX(16, 8192 / (kVectors * hn::Lanes(d)));
  const KeyRange all = joined(ranges, weights.rows);
  for (std::size_t first = all.first; first < all.end || first == all.first; first += chunk) {
    const bool is_first = first == all.first;
    for_each_row_tile<kTallest>(weights.rows, [&](auto rows, std::size_t row) HWY_ATTR {
      const KeyRange seen = joined(ranges + row, rows());
      const std::size_t begin = HWY_MAX(seen.first, first);
      const std::size_t end = HWY_MIN(seen.end, first + chunk);
      const std::size_t count = begin < end ? end - begin : 0;
      if (count > 0 || is_first) {
        mix_tile<rows(), kVectors>(d, weights.row_data(row) + (count > 0 ? begin - first_key : 0),
                                   weights.stride, value.row_block(count > 0 ? begin : 0, count),
                                   is_first, context.row_data(row), context.stride);
      }
    });
  }
}

void mix_values(ConstMatrix weights, ConstMatrix value, const KeyRange* ranges,
                std::size_t first_key, Matrix context) {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 4> quarter;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(full);
  std::size_t col = 0;
  const auto mix = [&](auto d, auto vectors, auto tallest) HWY_ATTR {
    const std::size_t width = vectors() * hn::Lanes(d);
    mix_columns<vectors(), tallest()>(d, weights, value.col_block(col, width), ranges, first_key,
                                      context.col_block(col, width));
    col += width;
  };
  while (col + kWideTileVectors * lanes <= value.cols) {
    mix(full, Size<kWideTileVectors>{}, Size<kWideTile>{});
  }
  while (col + 2 * lanes <= value.cols) {
    mix(full, Size<2>{}, Size<kTallTile>{});
  }
  while (col + lanes <= value.cols) {
    mix(full, Size<1>{}, Size<kTallTile>{});
  }
  while (col + hn::Lanes(quarter) <= value.cols) {
    mix(quarter, Size<1>{}, Size<kTallTile>{});
  }
  while (col < value.cols) {
    mix(one, Size<1>{}, Size<kTallTile>{});
  }
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
HWY_EXPORT(attention_scores);
HWY_EXPORT(softmax);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(mix_values);
HWY_EXPORT(multiply_by);
HWY_EXPORT(all_finite);

void attention_scores(ConstMatrix query, const KeyPanels& keys, std::span<const KeyRange> ranges,
                      std::size_t first_key, Matrix scores) noexcept {
  HWY_DYNAMIC_DISPATCH(attention_scores)(query, keys, ranges.data(), first_key, scores);
}

bool softmax(float* x, std::size_t n, float factor) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax)(x, n, factor, /*may_hide=*/true);
}

std::size_t softmax_rows(Matrix rows, std::span<const KeyRange> ranges, std::size_t first_key,
                         float factor) noexcept {
  return HWY_DYNAMIC_DISPATCH(softmax_rows)(rows, ranges.data(), first_key, factor);
}

void mix_values(ConstMatrix weights, ConstMatrix value, std::span<const KeyRange> ranges,
                std::size_t first_key, Matrix context) noexcept {
  HWY_DYNAMIC_DISPATCH(mix_values)(weights, value, ranges.data(), first_key, context);
}

void scale(std::span<float> x, float factor) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_by)(x.data(), x.size(), factor);
}

bool all_finite(std::span<const float> values) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_finite)(values.data(), values.size());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
