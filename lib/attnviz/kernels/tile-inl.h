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

// The same pointer, of which the compiler does not know where it comes from: it would compute in
// advance, and keep in registers, what is derived from it.
HWY_INLINE void forget_origin(auto*& pointer) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  __asm__("" : "+r"(pointer));
#endif
}

// The same column of kRows rows, one column after another. A pointer to every row would not leave
// registers for anything else, so one serves three rows.
template <std::size_t kRows>
class RowCursor {
 public:
  HWY_INLINE RowCursor(const float* x, std::size_t stride) : stride_(stride) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kPointers; ++i) {
      pointers_[i] = x + i * kShare * stride;
    }
  }
  HWY_INLINE float value(std::size_t row) const {
    return pointers_[row / kShare][row % kShare * stride_];
  }
  HWY_INLINE void advance() {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kPointers; ++i) {
      ++pointers_[i];
      forget_origin(pointers_[i]);  // or there would be a pointer to every row again
    }
  }

 private:
  static constexpr std::size_t kShare = 3;
  static constexpr std::size_t kPointers = (kRows + kShare - 1) / kShare;
  const float* pointers_[kPointers];
  std::size_t stride_;
};

// Where the vectors that a tile multiplies by lie: kPerGroup of them side by side, other groups
// `group_stride` further on, and those for the next k another `step` further on.
struct TileColumns {
  const float* data;
  std::size_t step;
  std::size_t group_stride;
};

template <std::size_t kRows, std::size_t kVectors, class D>
using TileSums = hn::Vec<D>[kRows][kVectors];

// sum[r][v] += x(r, k) times vector v of k, for all k < depth.
//
// Every sum runs over k in order and in one chain, whatever the tile's shape: that is why a result
// has the same bits wherever its row and column lie, alone or beside others.
//
// Loops over a tile are unrolled by hand: only then does the compiler keep its sums in registers
// from the first to the last.
template <std::size_t kPerGroup, std::size_t kRows, std::size_t kVectors, class D>
HWY_INLINE void add_products(D d, const float* x, std::size_t x_stride, std::size_t depth,
                             TileColumns columns, TileSums<kRows, kVectors, D>& sum) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  RowCursor<kRows> rows(x, x_stride);
  const float* w = columns.data;
  for (std::size_t k = 0; k < depth; ++k, w += columns.step) {
    hn::Vec<D> vectors[kVectors];
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < kVectors; ++v) {
      vectors[v] = hn::LoadU(d, w + v / kPerGroup * columns.group_stride + v % kPerGroup * kLanes);
    }
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto value = hn::Set(d, rows.value(r));
      HWY_UNROLL(16)
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(value, vectors[v], sum[r][v]);
      }
    }
    rows.advance();
  }
}

// work(row, vector) for each vector of a tile.
template <std::size_t kRows, std::size_t kVectors, class Work>
HWY_INLINE void for_each_vector(const Work& work) {
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < kVectors; ++v) {
      work(r, v);
    }
  }
}

// out(r, c) = finish(start(r, c) + sum over k of x(r, k) · w(k, c)) for kRows rows from `row` and
// kVectors vectors of columns from `col`.
template <std::size_t kRows, std::size_t kVectors, class D, class Start, class Finish>
HWY_INLINE void multiply_tile(D d, ConstMatrix x, ConstMatrix w, std::size_t row, std::size_t col,
                              const Start& start, const Finish& finish, Matrix out) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  TileSums<kRows, kVectors, D> sum;
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
    sum[r][v] = start(d, row + r, col + v * kLanes);
  });
  add_products<kVectors>(d, x.row_data(row), x.stride, x.cols, {w.data + col, w.stride, 0}, sum);
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
    hn::StoreU(finish(d, sum[r][v]), d, out.row_data(row + r) + col + v * kLanes);
  });
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
