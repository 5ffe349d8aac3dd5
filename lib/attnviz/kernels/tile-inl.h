// The register tile that every matrix product is made of. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_TILE_INL_H_
#undef ATTNVIZ_KERNELS_TILE_INL_H_
#else
#define ATTNVIZ_KERNELS_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "attnviz/core/tensor.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Six rows of two vectors: enough independent sums to hide the latency of a multiply-add, and with
// the operands still within the sixteen registers of AVX2.
inline constexpr std::size_t kTileRows = 6;
inline constexpr std::size_t kTileVectors = 2;

// out(r, c) = finish(start(r, c) + sum over k of x(r, k) · w(k, c)) for kRows rows from `row` and
// kVectors vectors of columns from `col`.
//
// Every sum runs over k in order and in one chain, whatever the tile's shape: that is why a result
// has the same bits wherever its row and column lie, alone or beside others.
template <std::size_t kRows, std::size_t kVectors, class D, class Start, class Finish>
HWY_INLINE void multiply_tile(D d, ConstMatrix x, ConstMatrix w, std::size_t row, std::size_t col,
                              const Start& start, const Finish& finish, Matrix out) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = start(d, row + r, col + v * lanes);
    }
  }
  const float* x_rows = x.row_data(row);
  const float* w_row = w.data + col;
  for (std::size_t k = 0; k < x.cols; ++k, w_row += w.stride) {
    hn::Vec<D> w_vectors[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      w_vectors[v] = hn::LoadU(d, w_row + v * lanes);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto x_value = hn::Set(d, x_rows[r * x.stride + k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(x_value, w_vectors[v], sum[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(finish(d, sum[r][v]), d, out.row_data(row + r) + col + v * lanes);
    }
  }
}

// All rows of one panel of columns: whole tiles, then what is left in tiles of 4, 2 and 1 rows.
template <std::size_t kVectors, class D, class Start, class Finish>
HWY_INLINE void multiply_panel(D d, ConstMatrix x, ConstMatrix w, std::size_t col,
                               const Start& start, const Finish& finish, Matrix out) {
  std::size_t row = 0;
  for (; row + kTileRows <= x.rows; row += kTileRows) {
    multiply_tile<kTileRows, kVectors>(d, x, w, row, col, start, finish, out);
  }
  for (; row + 4 <= x.rows; row += 4) {
    multiply_tile<4, kVectors>(d, x, w, row, col, start, finish, out);
  }
  for (; row + 2 <= x.rows; row += 2) {
    multiply_tile<2, kVectors>(d, x, w, row, col, start, finish, out);
  }
  for (; row < x.rows; ++row) {
    multiply_tile<1, kVectors>(d, x, w, row, col, start, finish, out);
  }
}

// The product x · w. `start(d, row, col)` gives the vector that a sum begins with, `finish(d, sum)`
// what is stored.
template <class Start, class Finish>
HWY_INLINE void multiply(ConstMatrix x, ConstMatrix w, const Start& start, const Finish& finish,
                         Matrix out) {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 4> quarter;
  const hn::CappedTag<float, 1> one;
  const std::size_t wide = kTileVectors * hn::Lanes(full);
  std::size_t col = 0;
  for (; col + wide <= w.cols; col += wide) {
    multiply_panel<kTileVectors>(full, x, w, col, start, finish, out);
  }
  for (; col + hn::Lanes(full) <= w.cols; col += hn::Lanes(full)) {
    multiply_panel<1>(full, x, w, col, start, finish, out);
  }
  for (; col + hn::Lanes(quarter) <= w.cols; col += hn::Lanes(quarter)) {
    multiply_panel<1>(quarter, x, w, col, start, finish, out);
  }
  for (; col < w.cols; ++col) {
    multiply_panel<1>(one, x, w, col, start, finish, out);
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
