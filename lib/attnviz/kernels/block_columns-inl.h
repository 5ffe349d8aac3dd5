// Quantised weights in the form that products read. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_BLOCK_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_BLOCK_COLUMNS_INL_H_
#undef ATTNVIZ_KERNELS_BLOCK_COLUMNS_INL_H_
#else
#define ATTNVIZ_KERNELS_BLOCK_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/cache_control.h>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/tile-inl.h"
#include "attnviz/kernels/unpack.h"
#include "attnviz/kernels/weight_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Weights stored as rows of whole blocks, one row per column. Number k of a column is number skip +
// k of its row.
struct BlockRows {
  BlockRows(const StoredMatrix& w, const Unpacker& type)
      : data(static_cast<const std::uint8_t*>(w.data)),
        row_bytes(stored_bytes(w.type, w.stride)),
        skip(w.skip),
        unpacker(type) {}

  // Returns the block that begins with number `first` of a row.
  HWY_INLINE const std::uint8_t* at(std::size_t row, std::size_t first) const {
    return data + row * row_bytes + bytes(first);
  }
  HWY_INLINE std::size_t bytes(std::size_t numbers) const {
    return numbers / unpacker.block.numbers * unpacker.block.bytes;
  }
  BlockRows from_row(std::size_t row) const {
    BlockRows rows = *this;
    rows.data += row * row_bytes;
    return rows;
  }

  const std::uint8_t* data;
  std::size_t row_bytes;
  std::size_t skip;
  Unpacker unpacker;
};

// Panels begin at multiples of kDepth in the stored rows, so that no block lies in two panels.
class BlockColumns {
 public:
  using Source = BlockRows;
  static constexpr bool kRowsLieTogether = false;

  // The quants of a panel's columns, and their scales and minimums side by side.
  struct Panel {
    HWY_ALIGN float numbers[kDepth * kPanel];
    HWY_ALIGN std::int8_t quants[kPanel * kDepth];
    HWY_ALIGN float scales[kDepth / 16 * kPanel];
    HWY_ALIGN float minimums[kDepth / 16 * kPanel];
  };

  BlockColumns(const BlockRows& w, std::size_t k, std::size_t col, std::size_t depth, Panel& panel)
      : BlockColumns(unpacked(w, k, col, depth, kPanel, panel)) {
    pack_rows();
  }

  HWY_INLINE hn::Vec<Lanes> vector(std::size_t v) const {
    return hn::Load(Lanes(), panel_->numbers + row_ * kPanel + v * kLanes);
  }
  HWY_INLINE void advance() {
    if (++row_ % kRowsAtOnce == 0 && row_ < end_) {
      pack_rows();
    }
  }

  static std::size_t depth(const BlockRows& w, std::size_t k, std::size_t d_in) {
    return HWY_MIN(kDepth - (w.skip + k) % kDepth, d_in - k);
  }
  static const float* packed(const BlockRows& w, std::size_t k, const Panel& panel) {
    return panel.numbers + (w.skip + k) % kDepth * kPanel;
  }

  // Two cache lines of each of a panel's columns.
  static Ahead ahead(const BlockRows& w, std::size_t k, std::size_t col, std::size_t depth,
                     std::size_t part, std::size_t /*parts*/) {
    const std::size_t n_bytes = HWY_MAX(w.bytes(depth), std::size_t{1});
    return {w.at(col, (w.skip + k) / kDepth * kDepth) + part * 128 % n_bytes, w.row_bytes,
            HWY_MAX(depth / kPanel, std::size_t{1})};
  }

  static void pack(const BlockRows& w, std::size_t k, std::size_t col, std::size_t depth,
                   std::size_t cols, Panel& panel) {
    std::memset(panel.quants, 0, sizeof(panel.quants));
    std::memset(panel.scales, 0, sizeof(panel.scales));
    std::memset(panel.minimums, 0, sizeof(panel.minimums));
    BlockColumns columns = unpacked(w, k, col, depth, cols, panel);
    columns.row_ -= columns.row_ % kRowsAtOnce;
    for (; columns.row_ < columns.end_; columns.row_ += kRowsAtOnce) {
      columns.pack_rows();
    }
  }

  // For add_products(): `cols` columns of the panel that begins with number k, unpacked but not
  // packed.
  static BlockColumns unpacked(const BlockRows& w, std::size_t k, std::size_t col,
                               std::size_t depth, std::size_t cols, Panel& panel) {
    const BlockColumns columns(w, (w.skip + k) % kDepth, depth, panel);
    unpack(w, k, col, cols, columns.end_, panel);
    return columns;
  }

  // sums[r] += x(r, k) times the numbers k of a vector of columns, for all k of the panel, in
  // order: the same as packing and multiply_tile(), without the memory in between.
  template <std::size_t kRows>
  HWY_INLINE void add_products(const float* x, std::size_t x_stride, std::size_t col,
                               TileSums<kRows, 1, Lanes>& sums) const {
    has_minimums_ ? add_products<kRows, true>(x, x_stride, col, sums)
                  : add_products<kRows, false>(x, x_stride, col, sums);
  }

 private:
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  static constexpr std::size_t kRowsAtOnce = kSquare<std::int8_t>;
  // Bits above byte kByte of a word, with bytes in memory order.
  template <int kByte>
  static constexpr int kAbove = 8 *
                                (std::endian::native == std::endian::little ? 3 - kByte : kByte);
#else
  static constexpr std::size_t kRowsAtOnce = 1;
#endif

  BlockColumns(const BlockRows& w, std::size_t row, std::size_t depth, Panel& panel)
      : panel_(&panel),
        row_(row),
        end_(row + depth),
        group_bits_(w.unpacker.group == 16 ? 4 : 5),
        has_minimums_(w.unpacker.has_minimums) {}

  // Unpacks the blocks of `cols` columns up to row `end` of the panel.
  static HWY_NOINLINE void unpack(const BlockRows& w, std::size_t k, std::size_t col,
                                  std::size_t cols, std::size_t end, Panel& panel) {
    constexpr std::size_t kColsAhead = 8;
    const std::size_t block = w.unpacker.block.numbers;
    const std::size_t n_blocks = (end + block - 1) / block;
    const std::uint8_t* blocks = w.at(col, (w.skip + k) / kDepth * kDepth);
    for (std::size_t c = 0; c < cols; ++c) {
      for (std::size_t line = 0; line < n_blocks * w.unpacker.block.bytes; line += 64) {
        hwy::Prefetch(blocks + kColsAhead * w.row_bytes + line);
      }
      w.unpacker.unpack(blocks, n_blocks,
                        {panel.quants + c * kDepth, panel.scales + c, panel.minimums + c, kPanel});
      blocks += w.row_bytes;
    }
  }

  // Calls take(i, numbers) for each of the kRowsAtOnce rows from `first` on, in order, with their
  // numbers in one vector of columns. As everywhere, products are rounded before the difference.
  template <bool kHasMinimums, class Take>
  HWY_INLINE void for_each_row(std::size_t first, std::size_t col, const Take& take) const {
    const Lanes d;
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
    const hn::RebindToSigned<Lanes> integers;
    for_each_row_of_words(
        reinterpret_cast<const std::uint8_t*>(panel_->quants) + col * kDepth + first, kDepth,
        [&](std::size_t i, auto words) HWY_ATTR {
          const std::size_t group = ((first + 4 * i) >> group_bits_) * kPanel + col;
          const auto scale = hn::Load(d, panel_->scales + group);
          const auto numbers = [&](auto quants) HWY_ATTR {
            const auto product = hn::Mul(hn::ConvertTo(d, quants), scale);
            if constexpr (kHasMinimums) {
              return hn::Sub(product, hn::Load(d, panel_->minimums + group));
            } else {
              return product;
            }
          };
          const auto quants = hn::BitCast(integers, words);
          take(4 * i, numbers(hn::ShiftRight<24>(hn::ShiftLeft<kAbove<0>>(quants))));
          take(4 * i + 1, numbers(hn::ShiftRight<24>(hn::ShiftLeft<kAbove<1>>(quants))));
          take(4 * i + 2, numbers(hn::ShiftRight<24>(hn::ShiftLeft<kAbove<2>>(quants))));
          take(4 * i + 3, numbers(hn::ShiftRight<24>(hn::ShiftLeft<kAbove<3>>(quants))));
        });
#else
    const std::size_t group = (first >> group_bits_) * kPanel + col;
    HWY_ALIGN float numbers[kLanes];
    for (std::size_t c = 0; c < kLanes; ++c) {
      const float product = static_cast<float>(panel_->quants[(col + c) * kDepth + first]) *
                            panel_->scales[group + c];
      numbers[c] = kHasMinimums ? product - panel_->minimums[group + c] : product;
    }
    take(0, hn::Load(d, numbers));
#endif
  }

  // Packs the kRowsAtOnce rows that include row_.
  HWY_NOINLINE void pack_rows() const {
    const std::size_t row = row_ - row_ % kRowsAtOnce;
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      has_minimums_ ? pack_square<true>(row, v * kLanes) : pack_square<false>(row, v * kLanes);
    }
  }
  template <bool kHasMinimums>
  HWY_INLINE void pack_square(std::size_t first, std::size_t col) const {
    float* const to = panel_->numbers + first * kPanel + col;
    for_each_row<kHasMinimums>(first, col, [to](std::size_t i, auto numbers) HWY_ATTR {
      hn::Store(numbers, Lanes(), to + i * kPanel);
    });
  }

  template <std::size_t kRows, bool kHasMinimums>
  HWY_INLINE void add_products(const float* x, std::size_t x_stride, std::size_t col,
                               TileSums<kRows, 1, Lanes>& sums) const {
    const Lanes d;
    for (std::size_t first = row_ - row_ % kRowsAtOnce; first < end_; first += kRowsAtOnce) {
      const auto add = [&](std::size_t row, auto numbers) HWY_ATTR {
        HWY_UNROLL(4)
        for (std::size_t r = 0; r < kRows; ++r) {
          const auto value = hn::Set(d, x[r * x_stride + row - row_]);
          sums[r][0] = hn::MulAdd(value, numbers, sums[r][0]);
        }
      };
      if (first >= row_ && first + kRowsAtOnce <= end_) {
        for_each_row<kHasMinimums>(
            first, col, [&](std::size_t i, auto numbers) HWY_ATTR { add(first + i, numbers); });
      } else {  // some of these rows are not added
        pack_square<kHasMinimums>(first, col);
        const std::size_t end = HWY_MIN(first + kRowsAtOnce, end_);
        for (std::size_t row = HWY_MAX(first, row_); row < end; ++row) {
          add(row, hn::Load(d, panel_->numbers + row * kPanel + col));
        }
      }
    }
  }

  Panel* panel_;
  std::size_t row_;
  std::size_t end_;
  unsigned group_bits_;  // shift instead of a division, which would take as long as a vector's work
  bool has_minimums_;
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
