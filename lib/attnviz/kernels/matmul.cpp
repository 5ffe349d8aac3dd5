// Matrix products, compiled once per SIMD target. Plain-loop reference: tests/support/naive.h.

#include "attnviz/kernels/products.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/matmul.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/block_columns-inl.h"
#include "attnviz/kernels/integer_row-inl.h"
#include "attnviz/kernels/map-inl.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/kernels/tile-inl.h"
#include "attnviz/kernels/weight_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Initial value of the sums: the bias, the current output, or 0.
enum class Start { kZero, kBias, kOutput };

// Some rows of x times a panel's columns, over a part of the depth.
struct TileProduct {
  const float* x;
  std::size_t x_stride;
  std::size_t depth;
  const float* bias;  // when start is kBias
  Start start;
  float* out;
  std::size_t out_stride;
};

template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void begin_sums(const TileProduct& product, TileSums<kRows, kVectors, Lanes>& sum) {
  const Lanes d;
  for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v)
                                       HWY_ATTR { sum[r][v] = hn::Zero(d); });
  if (product.start == Start::kBias) {
    for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
      sum[r][v] = hn::LoadU(d, product.bias + v * kLanes);
    });
  } else if (product.start == Start::kOutput) {
    for_each_vector<kRows, kVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
      sum[r][v] = hn::LoadU(d, product.out + r * product.out_stride + v * kLanes);
    });
  }
}

template <std::size_t kRows, class Columns>
HWY_NOINLINE void multiply_tile(const TileProduct& given, const Columns& columns) {
  const Lanes d;
  const TileProduct product = given;
  TileSums<kRows, kPanelVectors, Lanes> sum;
  begin_sums(product, sum);
  add_products(d, product.x, product.x_stride, product.depth, columns, sum);
  float* out = product.out;
  forget_origin(out);
  for_each_vector<kRows, kPanelVectors>([&](std::size_t r, std::size_t v) HWY_ATTR {
    hn::StoreU(sum[r][v], d, out + r * product.out_stride + v * kLanes);
  });
}

// For fewer columns than a panel has: computes whole vectors in a buffer.
template <std::size_t kRows, class Columns>
HWY_NOINLINE void multiply_narrow_tile(const TileProduct& given, const Columns& columns,
                                       std::size_t cols) {
  HWY_ALIGN float whole[kRows * kPanel] = {};
  HWY_ALIGN float bias[kPanel] = {};
  TileProduct product = given;
  product.out = whole;
  product.out_stride = kPanel;
  if (product.start == Start::kBias) {
    std::copy_n(given.bias, cols, bias);
    product.bias = bias;
  } else if (product.start == Start::kOutput) {
    for (std::size_t r = 0; r < kRows; ++r) {
      std::copy_n(given.out + r * given.out_stride, cols, whole + r * kPanel);
    }
  }
  multiply_tile<kRows>(product, columns);
  for (std::size_t r = 0; r < kRows; ++r) {
    std::copy_n(whole + r * kPanel, cols, given.out + r * given.out_stride);
  }
}

// Where a panel begins.
struct Place {
  std::size_t k;
  std::size_t col;
};

constexpr std::size_t kFewRows = 4;

// Multiplies up to kFewRows rows by whole panels of quantised weights: without packing, each number
// is used as soon as it has become a float.
template <std::size_t kRows>
HWY_NOINLINE void multiply_few_rows_by_blocks(const TileProduct& given, const BlockRows& w,
                                              Place place) {
  const Lanes d;
  BlockColumns::Panel panel;
  const BlockColumns columns =
      BlockColumns::unpacked(w, place.k, place.col, given.depth, kPanel, panel);
  TileProduct product = given;
  for (std::size_t v = 0; v < kPanelVectors; ++v) {
    TileSums<kRows, 1, Lanes> sums;
    begin_sums(product, sums);
    columns.add_products<kRows>(product.x, product.x_stride, v * kLanes, sums);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      hn::StoreU(sums[r][0], d, product.out + r * product.out_stride);
    }
    product.out += kLanes;
    product.bias = product.start == Start::kBias ? product.bias + kLanes : product.bias;
  }
}

// Multiplies all rows of x by one panel of w. The first tile packs the panel while it multiplies,
// and the others prefetch the next panel: reading weights takes longer than anything else.
template <class Columns>
void multiply_panel(const TileProduct& first, std::size_t n_rows, const typename Columns::Source& w,
                    Place place, Place next, std::size_t cols) {
  if constexpr (std::is_same_v<Columns, BlockColumns>) {
    if (n_rows <= kFewRows && cols == kPanel) {
      return n_rows == 1   ? multiply_few_rows_by_blocks<1>(first, w, place)
             : n_rows == 2 ? multiply_few_rows_by_blocks<2>(first, w, place)
             : n_rows == 3 ? multiply_few_rows_by_blocks<3>(first, w, place)
                           : multiply_few_rows_by_blocks<kFewRows>(first, w, place);
    }
  }
  HWY_ALIGN typename Columns::Panel panel;
  if (cols < kPanel) {
    Columns::pack(w, place.k, place.col, first.depth, cols, panel);
  }
  const std::size_t n_others = HWY_MAX((n_rows - 1) / kTallTile, std::size_t{1});
  std::size_t n_done = 0;
  for_each_row_tile<kTallTile>(n_rows, [&](auto rows, std::size_t row) HWY_ATTR {
    TileProduct product = first;
    product.x += row * product.x_stride;
    product.out += row * product.out_stride;
    if (row == 0 && cols == kPanel) {
      multiply_tile<rows()>(product, Columns(w, place.k, place.col, first.depth, panel));
      return;
    }
    const Ahead ahead =
        Columns::ahead(w, next.k, next.col, first.depth, n_done % n_others, n_others);
    ++n_done;
    const PackedColumns packed{Columns::packed(w, place.k, panel), ahead, 1};
    if (cols < kPanel) {
      multiply_narrow_tile<rows()>(product, packed, cols);
    } else {
      multiply_tile<rows()>(product, packed);
    }
  });
}

// Multiplies up to kFewRows rows of x by those columns of w [d_in, d_out] that fill whole vectors;
// returns their number. Each number of w is used so rarely that reading it takes most of the time,
// and rows are best read from end to end. Sums are kept in the output, in the same order as
// elsewhere.
template <std::size_t kRows, std::size_t kDeep, class Number>
HWY_NOINLINE void add_deep_rows(ConstMatrix x, Numbers<Number> w, std::size_t k, std::size_t cols,
                                Matrix out) {
  const Lanes d;
  hn::Vec<Lanes> factors[kRows][kDeep];
  for_each_vector<kRows, kDeep>([&](std::size_t r, std::size_t i)
                                    HWY_ATTR { factors[r][i] = hn::Set(d, x(r, k + i)); });
  for (std::size_t col = 0; col < cols; col += kLanes) {
    hn::Vec<Lanes> sums[kRows];
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      sums[r] = hn::LoadU(d, out.row_data(r) + col);
    }
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < kDeep; ++i) {
      const auto weights = load_floats(w.at(k + i, col));
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < kRows; ++r) {
        sums[r] = hn::MulAdd(factors[r][i], weights, sums[r]);
      }
    }
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) {
      hn::StoreU(sums[r], d, out.row_data(r) + col);
    }
  }
}

template <class Number>
std::size_t multiply_few_rows(ConstMatrix x, Numbers<Number> w, Start start, const float* bias,
                              Matrix out) {
  const std::size_t cols = out.cols / kLanes * kLanes;
  for (std::size_t r = 0; r < out.rows && start != Start::kOutput; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      out(r, c) = start == Start::kBias ? bias[c] : 0.0f;
    }
  }
  for_each_row_tile<kFewRows>(x.rows, [&](auto rows, std::size_t row) HWY_ATTR {
    constexpr std::size_t kDeep = 8;
    const Matrix sums = out.row_block(row, rows());
    std::size_t k = 0;
    for (; k + kDeep <= x.cols; k += kDeep) {
      add_deep_rows<rows(), kDeep>(x.row_block(row, rows()), w, k, cols, sums);
    }
    for (; k < x.cols; ++k) {
      add_deep_rows<rows(), 1>(x.row_block(row, rows()), w, k, cols, sums);
    }
  });
  return cols;
}

// Multiplies some rows by some thousand numbers of a panel at a time: this part of the rows stays
// in the second-level cache while the panels pass.
template <class Columns>
void multiply(ConstMatrix x, const typename Columns::Source& w, Start start, const float* bias,
              Matrix out) {
  constexpr std::size_t kRows = 384;
  for (std::size_t row = 0; row < x.rows; row += kRows) {
    const std::size_t n_rows = HWY_MIN(kRows, x.rows - row);
    std::size_t first_col = 0;
    if constexpr (Columns::kRowsLieTogether) {
      if (n_rows <= kFewRows && out.cols >= kPanel) {
        first_col =
            multiply_few_rows(x.row_block(row, n_rows), w, start, bias, out.row_block(row, n_rows));
      }
    }
    std::size_t k = 0;
    do {
      const std::size_t depth = Columns::depth(w, k, x.cols);
      for (std::size_t col = first_col; col < out.cols; col += kPanel) {
        const TileProduct first{x.row_data(row) + k,
                                x.stride,
                                depth,
                                bias == nullptr ? bias : bias + col,
                                k == 0 ? start : Start::kOutput,
                                out.row_data(row) + col,
                                out.stride};
        const Place next = col + kPanel < out.cols ? Place{k, col + kPanel} : Place{k + depth, 0};
        multiply_panel<Columns>(first, n_rows, w, {k, col}, next, HWY_MIN(kPanel, out.cols - col));
      }
      k += depth;
    } while (k < x.cols);
  }
}

// Multiplies by weights stored as [d_out, d_in]: all of a few columns first, in memory order,
// unless x would then not stay in the second-level cache.
template <class Columns>
void multiply_transposed(ConstMatrix x, const typename Columns::Source& w, Start start,
                         const float* bias, Matrix out) {
  constexpr std::size_t kMostNumbers = 1 << 16;
  const std::size_t cols_at_once = x.rows * x.cols <= kMostNumbers ? kPanel : out.cols;
  for (std::size_t col = 0; col < out.cols; col += cols_at_once) {
    multiply<Columns>(x, w.from_row(col), start, bias == nullptr ? bias : bias + col,
                      out.col_block(col, HWY_MIN(cols_at_once, out.cols - col)));
  }
}

template <class Number>
void multiply(ConstMatrix x, const StoredMatrix& w, Start start, const float* bias, Matrix out) {
  const Numbers<Number> numbers{static_cast<const Number*>(w.data), w.stride};
  if (w.transposed) {
    multiply_transposed<TransposedColumns<Number>>(x, numbers, start, bias, out);
  } else {
    multiply<PlainColumns<Number>>(x, numbers, start, bias, out);
  }
}

void multiply(ConstMatrix x, const StoredMatrix& w, Start start, const float* bias, Matrix out) {
  switch (w.type) {
    case StoredType::kF32:
      return multiply<float>(x, w, start, bias, out);
    case StoredType::kF16:
      return multiply<Float16>(x, w, start, bias, out);
    case StoredType::kBf16:
      return multiply<BFloat16>(x, w, start, bias, out);
    default:
      assert(is_quantised(w.type) && w.transposed);
      const BlockRows rows(w, kernels::unpacker(w.type));
#if HWY_TARGET == HWY_AVX2
      if (x.rows == 1) {
        if (start != Start::kOutput) {
          bias == nullptr ? std::fill_n(out.data, out.cols, 0.0f)
                          : std::copy_n(bias, out.cols, out.data);
        }
        return add_row_of_integers(x.row(0), w, rows.unpacker, out.row(0));
      }
#endif
      return multiply_transposed<BlockColumns>(x, rows, start, bias, out);
  }
}

void matmul(ConstMatrix x, const StoredMatrix& w, const float* bias, Matrix out) {
  multiply(x, w, bias == nullptr ? Start::kZero : Start::kBias, bias, out);
}

void matmul_add(ConstMatrix x, const StoredMatrix& w, Matrix out) {
  multiply(x, w, Start::kOutput, nullptr, out);
}

void add(ConstMatrix x, Matrix out) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* from = x.row_data(r);
    float* to = out.row_data(r);
    map_numbers(x.cols, to,
                [&](auto, auto load) HWY_ATTR { return hn::Add(load(to), load(from)); });
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(matmul);
HWY_EXPORT(matmul_add);
HWY_EXPORT(add);

void matmul(ConstMatrix x, const StoredMatrix& w, std::span<const float> bias,
            Matrix out) noexcept {
  const float* const first_bias = bias.empty() ? nullptr : bias.data();
  if (is_quantised(w.type) && uses_integer_products()) {
    return integer_matmul(x, w, first_bias, false, out);
  }
  HWY_DYNAMIC_DISPATCH(matmul)(x, w, first_bias, out);
}

void matmul_add(ConstMatrix x, const StoredMatrix& w, Matrix out) noexcept {
  if (is_quantised(w.type) && uses_integer_products()) {
    return integer_matmul(x, w, nullptr, true, out);
  }
  HWY_DYNAMIC_DISPATCH(matmul_add)(x, w, out);
}

void add(ConstMatrix x, Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(add)(x, out);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
