// Scores and weighted sums of values, compiled once per SIMD target. Plain-loop reference:
// tests/support/naive.h.

#include "attnviz/kernels/row_kernels.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/attention_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kKeys = KeyPanels::kKeys;

struct ScoreTile {
  const float* query;  // first row
  std::size_t query_stride;
  const float* panel;  // first panel
  std::size_t d_head;
  float* scores;  // first row and column
  std::size_t score_stride;
};

// Multiplies kRows queries by kPanels panels of keys, in registers. Tiles are separate functions:
// inlined, the surrounding code would take registers from the innermost loop.
template <std::size_t kRows, std::size_t kPanels>
HWY_NOINLINE void compute_scores(const ScoreTile& tile) {
  const hn::CappedTag<float, kKeys> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::CappedTag<float, kKeys>());
  constexpr std::size_t kPerPanel = kKeys / kLanes;
  constexpr std::size_t kVectors = kPanels * kPerPanel;
  TileSums<kRows, kVectors, decltype(d)> sum;
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v)
                                       HWY_ATTR { sum[r][v] = hn::Zero(d); });
  const TileColumns<kPerPanel, decltype(d)> keys{tile.panel, kKeys, tile.d_head * kKeys};
  add_products(d, tile.query, tile.query_stride, tile.d_head, keys, sum);
  float* const scores = tile.scores;
  const std::size_t stride = tile.score_stride;
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
    hn::StoreU(sum[r][v], d, scores + r * stride + v * kLanes);
  });
}

// Tiles of whole panels. Low and wide where there are enough registers: low tiles compute fewer
// masked scores, and load fewer queries per multiply-add.
inline constexpr std::size_t kScorePanels = kHasManyRegisters ? 3 : 1;
inline constexpr std::size_t kScoreRows = kHasManyRegisters       ? 8
                                          : HWY_LANES(float) >= 8 ? 6
                                          : HWY_LANES(float) == 4 ? 2
                                                                  : 1;

template <std::size_t kRows, std::size_t kPanels = kScorePanels>
HWY_INLINE void compute_scores(const ScoreTile& tile, std::size_t panels) {
  if constexpr (kPanels > 1) {
    if (panels < kPanels) {
      return compute_scores<kRows, kPanels - 1>(tile, panels);
    }
  }
  compute_scores<kRows, kPanels>(tile);
}

// The union of the ranges of some rows, ignoring empty ones.
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

// Rows for which the joined() ranges of their tiles are kept: sixteen tiles, and those of the
// remaining rows.
template <std::size_t kTallest>
inline constexpr std::size_t kRowsAtOnce = 16 * kTallest;
using TileRanges = KeyRange[16 + 4];

void attention_scores(ConstMatrix query, const KeyPanels& keys, const KeyRange* ranges,
                      std::size_t first_key, Matrix scores) {
  constexpr std::size_t kMost = kRowsAtOnce<kScoreRows>;
  if (query.rows > kMost) {
    attention_scores(query.row_block(0, kMost), keys, ranges, first_key, scores);
    return attention_scores(query.row_block(kMost, query.rows - kMost), keys, ranges + kMost,
                            first_key, scores.row_block(kMost, scores.rows - kMost));
  }
  TileRanges missing;  // of each tile, from a whole panel on
  // A few panels, about the same for all rows, stay in the first-level cache.
  for (std::size_t begin = first_key; begin < first_key + scores.cols;
       begin += kScorePanels * kKeys) {
    std::size_t tile = 0;
    for_each_row_tile<kScoreRows>(query.rows, [&](auto rows, std::size_t row) HWY_ATTR {
      KeyRange& range = missing[tile++];
      if (begin == first_key) {
        range = joined(ranges + row, rows());  // while the previous tile is still being computed
        range.first = range.first / kKeys * kKeys;
      }
      if (range.end <= range.first || range.first >= begin + kScorePanels * kKeys) {
        return;
      }
      const std::size_t n_panels = (range.end - range.first + kKeys - 1) / kKeys;
      // Two and two instead of three and one, which would wait for its own sums.
      const std::size_t panels =
          n_panels == kScorePanels + 1 ? HWY_MAX(1, n_panels / 2) : HWY_MIN(kScorePanels, n_panels);
      compute_scores<rows()>(
          {query.row_data(row), query.stride, keys.panel(range.first / kKeys), query.cols,
           scores.row_data(row) + (range.first - first_key), scores.stride},
          panels);
      range.first += panels * kKeys;
    });
  }
}

// The upper half of a tile's rows. Under a causal mask, all rows see the keys that the upper half
// sees, and the lower half sees some more.
template <std::size_t kRows>
inline constexpr std::size_t kUpperRows = kRows - kRows / 2;

// Adds the rows of `value`, each times its weight, to the tile, or starts the tile with them: the
// first `common` rows for the whole tile, the rest for the lower half.
template <std::size_t kRows, std::size_t kVectors, class D>
HWY_NOINLINE void mix_tile(D d, const float* weights, std::size_t weight_stride, ConstMatrix value,
                           std::size_t common, bool is_first, float* context,
                           std::size_t context_stride) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  TileSums<kRows, kVectors, D> sum;
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
    sum[r][v] = is_first ? hn::Zero(d) : hn::LoadU(d, context + r * context_stride + v * kLanes);
  });
  using Values = TileColumns<kVectors, D>;
  add_products(d, weights, weight_stride, common, Values{value.data, value.stride, 0}, sum);
  if constexpr (kRows > 1) {
    constexpr std::size_t kUpper = kUpperRows<kRows>;
    TileSums<kRows - kUpper, kVectors, D> lower;
    for_each_vector<kRows - kUpper, kVectors>([&](std::size_t r, std::size_t v)
                                                  HWY_ATTR { lower[r][v] = sum[kUpper + r][v]; });
    add_products(d, weights + kUpper * weight_stride + common, weight_stride, value.rows - common,
                 Values{value.row_data(common), value.stride, 0}, lower);
    for_each_vector<kRows - kUpper, kVectors>([&](std::size_t r, std::size_t v)
                                                  HWY_ATTR { sum[kUpper + r][v] = lower[r][v]; });
  }
  forget_origin(context);
  forget_origin(context_stride);
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
    hn::StoreU(sum[r][v], d, context + r * context_stride + v * kLanes);
  });
}

// Mixes the columns of `value` and `context` from `col` on: as many groups of kVectors vectors as
// fit, or one. Returns the next column.
template <std::size_t kVectors, std::size_t kTallest, class D>
HWY_INLINE std::size_t mix_columns(D d, ConstMatrix weights, ConstMatrix value,
                                   const KeyRange* ranges, std::size_t first_key, Matrix context,
                                   std::size_t col) {
  const std::size_t width = kVectors * hn::Lanes(d);
  const std::size_t end_col = col + (value.cols - col) / width * width;
  // As many values as fit the first-level cache beside the weights.
  const std::size_t chunk = HWY_MAX(16, 8192 / width);
  TileRanges seen_by;
  const std::size_t end_key = first_key + weights.cols;
  for (std::size_t first = first_key; first < end_key || first == first_key; first += chunk) {
    const bool is_first = first == first_key;
    std::size_t tile = 0;
    for_each_row_tile<kTallest>(weights.rows, [&](auto rows, std::size_t row) HWY_ATTR {
      KeyRange& seen = seen_by[tile++];
      if (is_first) {
        seen = joined(ranges + row, rows());
      }
      const std::size_t begin = HWY_MAX(seen.first, first);
      const std::size_t end = HWY_MIN(seen.end, first + chunk);
      const std::size_t count = begin < end ? end - begin : 0;
      if (count == 0 && !is_first) {
        return;
      }
      const std::size_t upper_end = joined(ranges + row, kUpperRows<rows()>).end;
      const std::size_t common = HWY_MIN(count, upper_end - HWY_MIN(upper_end, begin));
      const float* const from = weights.row_data(row) + (count > 0 ? begin - first_key : 0);
      const ConstMatrix values = value.row_block(count > 0 ? begin : 0, count);
      for (std::size_t i = col; i < end_col; i += width) {
        mix_tile<rows(), kVectors>(d, from, weights.stride, values.col_block(i, width), common,
                                   is_first, context.row_data(row) + i, context.stride);
      }
    });
  }
  return end_col;
}

void mix_values(ConstMatrix weights, ConstMatrix value, const KeyRange* ranges,
                std::size_t first_key, Matrix context) {
  constexpr std::size_t kMost = kRowsAtOnce<kWideTile>;
  if (weights.rows > kMost) {
    mix_values(weights.row_block(0, kMost), value, ranges, first_key, context.row_block(0, kMost));
    return mix_values(weights.row_block(kMost, weights.rows - kMost), value, ranges + kMost,
                      first_key, context.row_block(kMost, context.rows - kMost));
  }
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 4> quarter;
  const hn::CappedTag<float, 1> one;
  std::size_t col = 0;
  const auto mix = [&](auto d, auto vectors, auto tallest) HWY_ATTR {
    if (col + vectors() * hn::Lanes(d) <= value.cols) {
      col = mix_columns<vectors(), tallest()>(d, weights, value, ranges, first_key, context, col);
    }
  };
  mix(full, Size<kWideTileVectors>{}, Size<kWideTile>{});
  mix(full, Size<2>{}, Size<kTallTile>{});
  mix(full, Size<1>{}, Size<kTallTile>{});
  mix(quarter, Size<1>{}, Size<kTallTile>{});
  mix(one, Size<1>{}, Size<kTallTile>{});
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(attention_scores);
HWY_EXPORT(mix_values);

void attention_scores(ConstMatrix query, const KeyPanels& keys, std::span<const KeyRange> ranges,
                      std::size_t first_key, Matrix scores) noexcept {
  HWY_DYNAMIC_DISPATCH(attention_scores)(query, keys, ranges.data(), first_key, scores);
}

void mix_values(ConstMatrix weights, ConstMatrix value, std::span<const KeyRange> ranges,
                std::size_t first_key, Matrix context) noexcept {
  HWY_DYNAMIC_DISPATCH(mix_values)(weights, value, ranges.data(), first_key, context);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
