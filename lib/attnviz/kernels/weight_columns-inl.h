// Weights in the form that products read: columns as vectors of floats, regardless of how their
// file stores them. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_WEIGHT_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_WEIGHT_COLUMNS_INL_H_
#undef ATTNVIZ_KERNELS_WEIGHT_COLUMNS_INL_H_
#else
#define ATTNVIZ_KERNELS_WEIGHT_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/cache_control.h>

#include "attnviz/core/stored_matrix.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;
using Words = hn::RebindToUnsigned<Lanes>;
constexpr std::size_t kLanes = hn::MaxLanes(Lanes());
constexpr std::size_t kPanelVectors = 2;
constexpr std::size_t kPanel = kPanelVectors * kLanes;  // columns
// Rows of w that are packed at a time, so that a panel stays in the first-level cache.
constexpr std::size_t kDepth = 4096 / kLanes;

// A part of a matrix whose rows or columns lie `stride` apart. The numbers need not be aligned, so
// they must not be read through a pointer to Number.
template <class Number>
struct Numbers {
  const Number* data;
  std::size_t stride;

  HWY_INLINE const Number* at(std::size_t outer, std::size_t inner) const {
    return data + outer * stride + inner;
  }
  Numbers from_row(std::size_t row) const { return {at(row, 0), stride}; }
};

// Weights that are packed as floats directly.
template <class Number>
struct PackedNumbers {
  using Source = Numbers<Number>;

  struct Panel {
    HWY_ALIGN float numbers[kDepth * kPanel];
  };

  // Numbers in each column of the panel that begins with number k.
  static std::size_t depth(const Source& /*w*/, std::size_t k, std::size_t d_in) {
    return HWY_MIN(kDepth, d_in - k);
  }
  static const float* packed(const Source& /*w*/, std::size_t /*k*/, const Panel& panel) {
    return panel.numbers;
  }
};

// What a tile prefetches while it multiplies: two lines into the second-level cache, every `period`
// steps, `step` bytes further on each time.
struct Ahead {
  const std::uint8_t* at;
  std::size_t step;
  std::size_t period;

  HWY_INLINE void ask() {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
    __builtin_prefetch(at, 0, 2);
    __builtin_prefetch(at + 64, 0, 2);
#endif
    at += step;
  }
};

// A packed panel, and the memory to prefetch meanwhile.
struct PackedColumns {
  const float* panel;
  Ahead ahead;
  std::size_t wait;

  HWY_INLINE hn::Vec<Lanes> vector(std::size_t v) const {
    return hn::Load(Lanes(), panel + v * kLanes);
  }
  HWY_INLINE void advance() {
    panel += kPanel;
    if (--wait == 0) {
      wait = ahead.period;
      ahead.ask();
    }
  }
};

// Converts the lower halves of words to floats.
HWY_INLINE hn::Vec<Lanes> floats_of(hn::Vec<Words> words, BFloat16 /*type*/) {
  return hn::BitCast(Lanes(), hn::ShiftLeft<16>(words));
}
HWY_INLINE hn::Vec<Lanes> floats_of(hn::Vec<Words> words, Float16 /*type*/) {
  const Lanes d;
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, Lanes> half;
  const hn::Rebind<std::uint16_t, Lanes> bits;
  return hn::PromoteTo(d, hn::BitCast(half, hn::TruncateTo(bits, words)));
#else
  // The bits moved to a float's positions, with an exponent that is too small by 112. Infinity and
  // NaN have the largest exponent.
  const Words du;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(words, hn::Set(du, 0x7FFFu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(words, hn::Set(du, 0x8000u)));
  const auto scaled = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f));
  const auto is_special =
      hn::Ge(hn::BitCast(d, magnitude), hn::BitCast(d, hn::Set(du, 0x7C00u << 13)));
  const auto infinity = hn::BitCast(d, hn::Set(du, 0x7F800000u));
  const auto value = hn::Or(scaled, hn::IfThenElseZero(is_special, infinity));
  return hn::Or(value, hn::BitCast(d, sign));
#endif
}

// Loads the next kLanes numbers.
#if HWY_TARGET == HWY_SCALAR
template <class Number>
HWY_INLINE hn::Vec<Lanes> load_floats(const Number* from) {
  return hn::Set(Lanes(), number_at(from));
}
#else
HWY_INLINE hn::Vec<Lanes> load_floats(const float* from) {
  return hn::LoadU(Lanes(), from);
}
template <class Number>
HWY_INLINE hn::Vec<Lanes> load_floats(const Number* from) {
  const hn::Rebind<std::uint16_t, Lanes> bits;
  const auto halves = hn::LoadU(bits, reinterpret_cast<const std::uint16_t*>(from));
#if HWY_TARGET <= HWY_AVX2
  if constexpr (std::is_same_v<Number, Float16>) {
    const hn::Rebind<hwy::float16_t, Lanes> half;
    return hn::PromoteTo(Lanes(), hn::BitCast(half, halves));
  }
#endif
  return floats_of(hn::PromoteTo(Words(), halves), Number());
}
#endif

// A panel of w [d_in, d_out] that is read for the first time, and stored in `panel` for other
// tiles.
template <class Number>
class PlainColumns : public PackedNumbers<Number> {
 public:
  using typename PackedNumbers<Number>::Panel;
  static constexpr bool kRowsLieTogether = true;

  PlainColumns(Numbers<Number> w, std::size_t k, std::size_t col, std::size_t /*depth*/,
               Panel& panel)
      : from_(w.at(k, col)), stride_(w.stride), panel_(panel.numbers) {}

  HWY_INLINE hn::Vec<Lanes> vector(std::size_t v) const {
    const auto vector = load_floats(from_ + v * kLanes);
    hn::Store(vector, Lanes(), panel_ + v * kLanes);
    return vector;
  }
  HWY_INLINE void advance() {
    // Rows lie far apart, which the processor does not predict.
    constexpr std::size_t kRowsAhead = 24;
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      hwy::Prefetch(from_ + kRowsAhead * stride_ + v * kLanes);
    }
    from_ += stride_;
    panel_ += kPanel;
  }

  // The share of one of `parts` tiles in a panel: some of its rows.
  static Ahead ahead(Numbers<Number> w, std::size_t k, std::size_t col, std::size_t depth,
                     std::size_t part, std::size_t parts) {
    return {reinterpret_cast<const std::uint8_t*>(w.at(k + part * depth / parts, col)),
            w.stride * sizeof(Number), parts};
  }

  // Packs a panel with fewer columns than kPanel, with zeros beside them.
  static void pack(Numbers<Number> w, std::size_t k, std::size_t col, std::size_t depth,
                   std::size_t cols, Panel& panel) {
    Number row[kPanel] = {};
    for (std::size_t i = 0; i < depth; ++i) {
      std::memcpy(row, w.at(k + i, col), cols * sizeof(Number));
      for (std::size_t v = 0; v < kPanelVectors; ++v) {
        hn::Store(load_floats(row + v * kLanes), Lanes(), panel.numbers + i * kPanel + v * kLanes);
      }
    }
  }

 private:
  const Number* from_;
  std::size_t stride_;
  float* panel_;
};

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Loads four words each of columns 0, 4, 8, … into the blocks of one vector. Columns lie `step`
// bytes apart.
template <class D>
HWY_INLINE hn::Vec<D> every_fourth_column(D d, const std::uint8_t* from, std::size_t step) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), from));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, every_fourth_column(half, from + hn::MaxLanes(half) * step, step),
                       every_fourth_column(half, from, step));
  }
}

// Transposes four columns, a vector each: calls take(i, row) for the four rows from `first` on.
template <class D, class Take>
HWY_INLINE void interleave_four(D d, const hn::Vec<D>* column, std::size_t first,
                                const Take& take) {
  const hn::RepartitionToWide<D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, column[0], column[1]));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, column[0], column[1]));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, column[2], column[3]));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, column[2], column[3]));
  take(first, hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)));
  take(first + 1, hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)));
  take(first + 2, hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)));
  take(first + 3, hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)));
}

// Calls take(i, words) with word i of kLanes columns, for each of their first kLanes words.
template <class Take>
HWY_INLINE void for_each_row_of_words(const std::uint8_t* from, std::size_t step,
                                      const Take& take) {
  const Words d;
  constexpr std::size_t kGroups = kLanes / 4;
  hn::Vec<Words> columns[kGroups][4];
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < 4; ++c) {
    HWY_UNROLL(4)
    for (std::size_t group = 0; group < kGroups; ++group) {
      columns[group][c] = every_fourth_column(d, from + c * step + group * 16, step);
    }
  }
  HWY_UNROLL(4)
  for (std::size_t group = 0; group < kGroups; ++group) {
    interleave_four(d, columns[group], 4 * group, take);
  }
}

// Rows that are packed at a time: as many words as a vector has, with one or two numbers each.
template <class Number>
constexpr std::size_t kSquare = kLanes*(sizeof(std::uint32_t) / sizeof(Number));

// Packs kSquare rows of kLanes columns of a panel.
template <class Number>
HWY_INLINE void pack_square(const Number* from, std::size_t stride, float* panel) {
  const Lanes d;
  for_each_row_of_words(reinterpret_cast<const std::uint8_t*>(from), stride * sizeof(Number),
                        [&](std::size_t i, auto words) HWY_ATTR {
                          if constexpr (sizeof(Number) == sizeof(float)) {
                            hn::Store(hn::BitCast(d, words), d, panel + i * kPanel);
                          } else {
                            // Two numbers lie in a word in the machine's byte order.
                            constexpr bool kIsLittle = std::endian::native == std::endian::little;
                            const auto lower = floats_of(words, Number());
                            const auto upper = floats_of(hn::ShiftRight<16>(words), Number());
                            const auto first = kIsLittle ? lower : upper;
                            const auto second = kIsLittle ? upper : lower;
                            hn::Store(first, d, panel + 2 * i * kPanel);
                            hn::Store(second, d, panel + (2 * i + 1) * kPanel);
                          }
                        });
}
#else
template <class Number>
constexpr std::size_t kSquare = 1;

template <class Number>
HWY_INLINE void pack_square(const Number* from, std::size_t stride, float* panel) {
  for (std::size_t c = 0; c < kLanes; ++c) {
    panel[c] = number_at(from + c * stride);
  }
}
#endif

// The same for w stored as [d_out, d_in]. Packs some rows before the first of them is needed.
template <class Number>
class TransposedColumns : public PackedNumbers<Number> {
 public:
  using typename PackedNumbers<Number>::Panel;
  static constexpr bool kRowsLieTogether = false;

  TransposedColumns(Numbers<Number> w, std::size_t k, std::size_t col, std::size_t depth,
                    Panel& panel)
      : from_(w.at(col, k)), stride_(w.stride), depth_(depth), panel_(panel.numbers) {
    pack_rows();
  }

  HWY_INLINE hn::Vec<Lanes> vector(std::size_t v) const {
    return hn::Load(Lanes(), panel_ + row_ * kPanel + v * kLanes);
  }
  HWY_INLINE void advance() {
    if (++row_ % kSquare<Number> == 0) {
      pack_rows();
    }
  }

  // Two cache lines of each of a panel's columns.
  static Ahead ahead(Numbers<Number> w, std::size_t k, std::size_t col, std::size_t depth,
                     std::size_t part, std::size_t /*parts*/) {
    constexpr std::size_t kTwoLines = 128 / sizeof(Number);
    const std::size_t row = part * kTwoLines % HWY_MAX(depth, std::size_t{1});
    return {reinterpret_cast<const std::uint8_t*>(w.at(col, k + row)), w.stride * sizeof(Number),
            HWY_MAX(depth / kPanel, std::size_t{1})};
  }

  static void pack(Numbers<Number> w, std::size_t k, std::size_t col, std::size_t depth,
                   std::size_t cols, Panel& panel) {
    for (std::size_t i = 0; i < depth; ++i) {
      for (std::size_t c = 0; c < kPanel; ++c) {
        panel.numbers[i * kPanel + c] = c < cols ? number_at(w.at(col + c, k + i)) : 0.0f;
      }
    }
  }

 private:
  HWY_NOINLINE void pack_rows() const {
    prefetch();
    if (row_ + kSquare<Number> <= depth_) {
      for (std::size_t v = 0; v < kPanelVectors; ++v) {
        pack_square(from_ + v * kLanes * stride_ + row_, stride_,
                    panel_ + row_ * kPanel + v * kLanes);
      }
    } else {
      for (std::size_t i = row_; i < depth_; ++i) {
        for (std::size_t c = 0; c < kPanel; ++c) {
          panel_[i * kPanel + c] = number_at(from_ + c * stride_ + i);
        }
      }
    }
  }

  // Prefetches rows that are packed a few steps later.
  HWY_INLINE void prefetch() const {
    const Number* const from = from_ + row_ + 8 * kSquare<Number>;
    for (std::size_t c = 0; c < kPanel; ++c) {
      hwy::Prefetch(from + c * stride_);
    }
  }

  const Number* from_;
  std::size_t stride_;
  std::size_t depth_;
  float* panel_;
  std::size_t row_ = 0;
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
