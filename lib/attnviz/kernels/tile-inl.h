// The register tile that all matrix products consist of. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_TILE_INL_H_
#undef ATTNVIZ_KERNELS_TILE_INL_H_
#else
#define ATTNVIZ_KERNELS_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>

#include "attnviz/core/tensor.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Enough independent sums to hide the latency of a multiply-add, within the available registers: 32
// with AVX-512, and an assumed 16 elsewhere.
inline constexpr bool kHasManyRegisters = HWY_TARGET <= HWY_AVX3;
inline constexpr std::size_t kTallTile = kHasManyRegisters ? 12 : 6;  // rows, of up to two vectors
inline constexpr std::size_t kWideTileVectors = kHasManyRegisters ? 4 : 2;
inline constexpr std::size_t kWideTile = 6;  // rows, of kWideTileVectors vectors

// A size known at compile time.
template <std::size_t kSize>
struct Size {
  constexpr std::size_t operator()() const noexcept { return kSize; }
};

// Calls work(Size<rows of the tile>, first row) for tiles of kTallest rows, then for the rest. A
// tile with few rows waits for its own sums, so that two of eight are faster than one of twelve and
// one of four.
template <std::size_t kTallest, class Work>
HWY_INLINE void for_each_row_tile(std::size_t n_rows, const Work& work) {
  std::size_t row = 0;
  for (; row + kTallest <= n_rows && (kTallest < 12 || n_rows - row != 16); row += kTallest) {
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
  rest(Size<8>{});
  rest(Size<4>{});
  rest(Size<2>{});
  rest(Size<1>{});
}

// Hides the origin of a pointer or number from the compiler, which would otherwise compute values
// derived from it in advance and keep them in registers.
HWY_INLINE void forget_origin(auto& value) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  __asm__("" : "+r"(value));
#endif
}

// The same column of kRows rows, moving from column to column. One pointer serves three rows: a
// pointer per row would leave no registers for anything else.
template <std::size_t kRows, class T = const float>
class RowCursor {
 public:
  HWY_INLINE RowCursor(T* x, std::size_t stride) : stride_(stride * sizeof(T)) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kPointers; ++i) {
      pointers_[i] = x + i * kShare * stride;
    }
  }
  HWY_INLINE T* at(std::size_t row) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(pointers_[row / kShare]) +
                                row % kShare * stride_);
  }
  HWY_INLINE void advance(std::size_t columns = 1) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kPointers; ++i) {
      T* pointer = pointers_[i] + columns;
      forget_origin(pointer);  // else each row would get a pointer
      pointers_[i] = pointer;
    }
  }

 private:
  static constexpr std::size_t kShare = 3;
  static constexpr std::size_t kPointers = (kRows + kShare - 1) / kShare;
  T* pointers_[kPointers];
  std::size_t stride_;
};

// Where the vectors that a tile multiplies by lie: kPerGroup of them side by side, further groups
// `group_stride` apart, and those for the next k another `step` further.
template <std::size_t kPerGroup, class D>
struct TileColumns {
  const float* data;
  std::size_t step;
  std::size_t group_stride;

  HWY_INLINE hn::Vec<D> vector(std::size_t v) const {
    constexpr std::size_t kVector = hn::MaxLanes(D());
    return hn::LoadU(D(), data + v / kPerGroup * group_stride + v % kPerGroup * kVector);
  }
  HWY_INLINE void advance() { data += step; }
};

template <std::size_t kRows, std::size_t kVectors, class D>
using TileSums = hn::Vec<D>[kRows][kVectors];

// sum[r][v] += x(r, k) times vector v of the columns, for all k < depth, advancing with k.
//
// Every sum runs over k in order and in one chain, regardless of the tile's shape: that is why a
// result has the same bits for any position of its row and column, alone or beside others.
//
// Loops over a tile are unrolled explicitly: only then does the compiler keep its sums in registers
// throughout.
template <class D, class Columns, std::size_t kRows, std::size_t kVectors>
HWY_INLINE void add_products(D d, const float* x, std::size_t x_stride, std::size_t depth,
                             Columns columns, TileSums<kRows, kVectors, D>& sum) {
  RowCursor<kRows> rows(x, x_stride);
  HWY_UNROLL(2)
  for (std::size_t k = 0; k < depth; ++k) {
    hn::Vec<D> vectors[kVectors];
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < kVectors; ++v) {
      vectors[v] = columns.vector(v);
    }
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto value = hn::Set(d, *rows.at(r));
      HWY_UNROLL(16)
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(value, vectors[v], sum[r][v]);
      }
    }
    rows.advance();
    columns.advance();
  }
}

// Calls work(row, vector) for each vector of a tile.
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

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
