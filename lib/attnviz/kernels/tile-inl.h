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

// Enough independent sums to hide the latency of a multiply-add, in as many registers as there are:
// thirty-two with AVX-512, and taken to be sixteen elsewhere.
inline constexpr bool kHasManyRegisters = HWY_TARGET <= HWY_AVX3;
inline constexpr std::size_t kTallTile = kHasManyRegisters ? 12 : 6;  // rows, of up to two vectors
inline constexpr std::size_t kWideTileVectors = kHasManyRegisters ? 4 : 2;
inline constexpr std::size_t kWideTile = 6;  // rows, of kWideTileVectors vectors

// A size that is known when a tile is compiled.
template <std::size_t kSize>
struct Size {
  constexpr std::size_t operator()() const noexcept { return kSize; }
};

// work(Size<rows of the tile>, first row) for tiles of kTallest rows, then for what is left.
template <std::size_t kTallest, class Work>
HWY_INLINE void for_each_row_tile(std::size_t n_rows, const Work& work) {
  std::size_t row = 0;
  for (; row + kTallest <= n_rows; row += kTallest) {
    work(Size<kTallest>{}, row);
  }
  const auto rest = [&](auto rows) HWY_ATTR {
    if constexpr (rows() < kTallest) {
      if (row + rows() <= n_rows) {
        work(rows, row);
        row += rows();
      }
    }
  };
  rest(Size<8>{});
  rest(Size<4>{});
  rest(Size<2>{});
  rest(Size<1>{});
}

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

template <std::size_t kVectors, class D, class Start, class Finish>
HWY_INLINE void multiply_panel(D d, ConstMatrix x, ConstMatrix w, std::size_t col,
                               const Start& start, const Finish& finish, Matrix out) {
  for_each_row_tile<kTallTile>(x.rows, [&](auto rows, std::size_t row) HWY_ATTR {
    multiply_tile<rows(), kVectors>(d, x, w, row, col, start, finish, out);
  });
}

// The product x · w. `start(d, row, col)` gives the vector that a sum begins with, `finish(d, sum)`
// what is stored.
template <class Start, class Finish>
HWY_INLINE void multiply(ConstMatrix x, ConstMatrix w, const Start& start, const Finish& finish,
                         Matrix out) {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 4> quarter;
  const hn::CappedTag<float, 1> one;
  constexpr std::size_t kVectors = 2;
  const std::size_t wide = kVectors * hn::Lanes(full);
  std::size_t col = 0;
  for (; col + wide <= w.cols; col += wide) {
    multiply_panel<kVectors>(full, x, w, col, start, finish, out);
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
