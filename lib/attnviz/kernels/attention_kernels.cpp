// Scores and mixtures of values, compiled once per SIMD target. Plain-loop reference:
// tests/support/naive.h.

#include "attnviz/kernels/attention_kernels.h"

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

// A tile of whole panels, as tall as the registers allow.
inline constexpr std::size_t kScorePanels = kHasManyRegisters ? 2 : 1;
inline constexpr std::size_t kScoreRows = kHasManyRegisters       ? kTallTile
                                          : HWY_LANES(float) >= 8 ? 6
                                          : HWY_LANES(float) == 4 ? 2
                                                                  : 1;

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
