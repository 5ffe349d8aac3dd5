#include "attnviz/kernels/products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "attnviz/core/cpu_feature.h"
#include "attnviz/kernels/unpack.h"

#if defined(__x86_64__) && defined(__GNUC__)
// GCC warns about values that its own header leaves uninitialised on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#define ATTNVIZ_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")))
#define ATTNVIZ_VNNI_INLINE ATTNVIZ_VNNI __attribute__((always_inline))

namespace attnviz::kernels {

namespace {

constexpr std::size_t kLanes = kBlockLanes;
constexpr std::size_t kPanel = kLaneStep;  // columns
constexpr std::size_t kDepth = 256;        // numbers of a column in a panel: whole blocks
constexpr std::size_t kWord = 4;           // numbers that one dot product adds
constexpr std::size_t kSmallestGroup = 16;
constexpr std::size_t kMostBytes = 8 * 34;  // of a column in a panel: Q8_0 has the most
constexpr std::size_t kPanelsAhead = 3;     // to prefetch: as far as memory latency needs
constexpr std::size_t kMostRows = 192;
constexpr std::size_t kMostDepth = 2048;   // of rows: their digits fit the first-level cache
constexpr std::size_t kDepthOfFew = 8192;  // for up to two rows: usually whole columns
constexpr std::size_t kMostNumbers = kMostRows * kDepth;  // on the stack, 4 bytes each

// For each four numbers: their first digits, then the second ones, the third ones, and four unused
// bytes. number = unit * (2^16 first + 2^8 second + third), with digits from -128 to 127.
struct Activations {
  alignas(64) std::int8_t digits[kMostNumbers * 4];
  ActivationGroup groups[kMostNumbers / kSmallestGroup];
};

// Numbers of kPanel columns, laid out as in LaneBlocks.
struct WeightPanel {
  alignas(64) std::uint32_t words[kDepth / kWord * kPanel];
  alignas(64) float scales[kDepth / kSmallestGroup * kPanel];
  alignas(64) float minimums[kDepth / kSmallestGroup * kPanel];
};

// Splits sixteen 24-bit integers into their digits.
ATTNVIZ_VNNI_INLINE inline void store_digits(__m512i numbers, std::int8_t* to) {
  const __m512i order =
      _mm512_broadcast_i32x4(_mm_setr_epi8(2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12, 3, 7, 11, 15));
  // With 128 added, the digits are those of base 256.
  const __m512i shift = _mm512_set1_epi32(0x00808080);
  const __m512i bytes = _mm512_xor_si512(_mm512_add_epi32(numbers, shift), shift);
  _mm512_store_si512(to, _mm512_shuffle_epi8(bytes, order));
}

// Converts the numbers [at, at + 16 kVectors) of a row of `size`; numbers outside the row are 0.
template <std::size_t kVectors>
ATTNVIZ_VNNI_INLINE inline ActivationGroup make_group(const float* row, std::ptrdiff_t at,
                                                      std::ptrdiff_t size, std::int8_t* digits) {
  constexpr std::ptrdiff_t kNumbers = kVectors * kLanes;
  __m512 numbers[kVectors];
  if (at >= 0 && at + kNumbers <= size) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      numbers[v] = _mm512_loadu_ps(row + at + v * kLanes);
    }
  } else {
    const std::uint64_t until =
        (std::uint64_t{1} << std::clamp<std::ptrdiff_t>(size - at, 0, kNumbers));
    const std::uint64_t before = (std::uint64_t{1} << std::clamp<std::ptrdiff_t>(-at, 0, kNumbers));
    const std::uint64_t there = until - std::min(before, until);
    for (std::size_t v = 0; v < kVectors; ++v) {
      numbers[v] = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there >> v * kLanes),
                                         row + at + static_cast<std::ptrdiff_t>(v * kLanes));
    }
  }
  __m512i largest_bits = _mm512_setzero_si512();
  for (const __m512& vector : numbers) {
    // Compared as integers, so that NaN is the largest.
    largest_bits = _mm512_max_epi32(largest_bits, _mm512_castps_si512(_mm512_abs_ps(vector)));
  }
  constexpr std::uint32_t kInfinity = 0x7F800000;
  constexpr std::uint32_t kLargestDigits = 0x00020000;  // beyond 1.98 the first digit would be 128
  const auto bits = static_cast<std::uint32_t>(_mm512_reduce_max_epi32(largest_bits));
  const std::uint32_t exponent = std::max((bits + kLargestDigits) >> 23, 23u);
  const auto power = [](std::uint32_t biased) ATTNVIZ_VNNI_INLINE {
    float value;
    const std::uint32_t word = biased << 23;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  };
  const __m512 per_unit = _mm512_set1_ps(power(276 - exponent));
  const bool is_finite = bits < kInfinity;  // else integers are 0, and their unit is NaN
  const auto kept = static_cast<__mmask16>(is_finite ? 0xFFFF : 0);
  __m512i sums = _mm512_setzero_si512();
  for (std::size_t v = 0; v < kVectors; ++v) {
    const __m512i integers = _mm512_maskz_cvtps_epi32(kept, _mm512_mul_ps(numbers[v], per_unit));
    store_digits(integers, digits + v * kLanes * 4);
    sums = _mm512_add_epi32(sums, integers);
  }
  const std::int32_t sum = _mm512_reduce_add_epi32(sums);
  const float unit = is_finite ? power(exponent - 22) : std::numeric_limits<float>::quiet_NaN();
  return {.unit = unit,
          .sum = static_cast<float>(sum) * unit,
          .high_128 = -sum >> 9,
          .low_128 = (-sum & 511) << 7,
          .high_32 = -sum >> 11,
          .low_32 = (-sum & 2047) << 5};
}

// A part of each row of activations, which matches a part of some columns.
struct Part {
  const std::int8_t* digits;
  const ActivationGroup* groups;
  std::size_t digits_stride;
  std::size_t groups_stride;
  std::size_t n_groups;
};

// Where a panel's columns lie, and where as many columns to prefetch lie.
struct PanelSource {
  const std::uint8_t* blocks;
  std::size_t row_bytes;
  const std::uint8_t* later;
  std::size_t later_row_bytes;
  std::size_t n_blocks;
  std::size_t cols;
};

void make_panel(PanelSource from, const Unpacker& type, WeightPanel& panel) {
  const std::size_t n_bytes = from.n_blocks * type.block.bytes;
  std::uint8_t filled[kPanel * kMostBytes];
  if (from.cols < kPanel) {
    std::memset(filled + from.cols * n_bytes, 0, (kPanel - from.cols) * n_bytes);
    for (std::size_t col = 0; col < from.cols; ++col) {
      std::memcpy(filled + col * n_bytes, from.blocks + col * from.row_bytes, n_bytes);
    }
    from.blocks = filled;
    from.row_bytes = n_bytes;
  }
  const std::size_t words = type.block.numbers / kWord * kPanel;
  const std::size_t groups = type.block.numbers / type.group * kPanel;
  // The data to prefetch is read in memory order, not block by block across all columns.
  const bool in_order = from.later_row_bytes == n_bytes;
  const std::size_t later_stride = in_order ? type.block.bytes : from.later_row_bytes;
  const std::size_t later_block = type.block.bytes * (in_order ? kLanes : 1);
  for (std::size_t col = 0; col < kPanel; col += kLanes) {
    for (std::size_t block = 0; block < from.n_blocks; ++block) {
      type.unpack_lanes(
          {from.blocks + col * from.row_bytes + block * type.block.bytes, from.row_bytes,
           from.later + col * from.later_row_bytes + block * later_block, later_stride},
          {panel.words + block * words + col, panel.scales + block * groups + col,
           panel.minimums + block * groups + col});
    }
  }
}

// out += some rows times a panel's columns, group by group. The sums of three digits leave no
// registers for out.
template <std::size_t kRows, std::size_t kGroup, bool kHasMinimums>
ATTNVIZ_VNNI void add_tile(const Part& part, const std::uint32_t* words, const float* scales,
                           const float* minimums, float* out, std::size_t out_stride) {
  constexpr std::size_t kVectors = 2;
  constexpr std::size_t kDigits = 3;
  const std::int8_t* digits = part.digits;
  const ActivationGroup* groups = part.groups;
  for (std::size_t g = 0; g < part.n_groups; ++g) {
    __m512i dots[kDigits][kRows][kVectors];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const ActivationGroup& group = groups[r * part.groups_stride];
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) {
        dots[0][r][v] = _mm512_set1_epi32(group.high_128);
        dots[1][r][v] = _mm512_setzero_si512();
        dots[2][r][v] = _mm512_set1_epi32(group.low_128);
      }
    }
#pragma GCC unroll 8
    for (std::size_t w = 0; w < kGroup / kWord; ++w) {
      __m512i quants[kVectors];
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) {
        quants[v] = _mm512_load_si512(words + w * kPanel + v * kLanes);
      }
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 3
        for (std::size_t digit = 0; digit < kDigits; ++digit) {
          int four;
          std::memcpy(&four, digits + r * part.digits_stride + (w * kWord + digit) * 4,
                      sizeof(four));
          const __m512i activations = _mm512_set1_epi32(four);
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kVectors; ++v) {
            dots[digit][r][v] = _mm512_dpbusd_epi32(dots[digit][r][v], quants[v], activations);
          }
        }
      }
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const ActivationGroup& group = groups[r * part.groups_stride];
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v) {
        const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(dots[0][r][v], 8), dots[1][r][v]);
        const __m512 dot = _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(256.0f),
                                           _mm512_cvtepi32_ps(dots[2][r][v]));
        const __m512 factor =
            _mm512_mul_ps(_mm512_load_ps(scales + v * kLanes), _mm512_set1_ps(group.unit));
        float* const to = out + r * out_stride + v * kLanes;
        __m512 sum = _mm512_fmadd_ps(dot, factor, _mm512_loadu_ps(to));
        if constexpr (kHasMinimums) {
          sum = _mm512_fnmadd_ps(_mm512_load_ps(minimums + v * kLanes), _mm512_set1_ps(group.sum),
                                 sum);
        }
        _mm512_storeu_ps(to, sum);
      }
    }
    digits += kGroup * 4;
    ++groups;
    words += kGroup / kWord * kPanel;
    scales += kPanel;
    minimums += kPanel;
  }
}

using AddTile = void (*)(const Part&, const std::uint32_t* words, const float* scales,
                         const float* minimums, float* out, std::size_t out_stride);

template <std::size_t kRows>
AddTile tile_of(const Unpacker& type) {
  if (type.group == 16) {
    return type.has_minimums ? add_tile<kRows, 16, true> : add_tile<kRows, 16, false>;
  }
  return type.has_minimums ? add_tile<kRows, 32, true> : add_tile<kRows, 32, false>;
}

// Multiplies all rows by a panel's columns.
class Tiles {
 public:
  explicit Tiles(const Unpacker& type)
      : one_(tile_of<1>(type)), two_(tile_of<2>(type)), four_(tile_of<4>(type)) {}

  void add(Part part, const WeightPanel& panel, std::size_t first_group, std::size_t group_words,
           Matrix out) const {
    std::size_t row = 0;
    const auto add = [&](AddTile tile, std::size_t rows) {
      tile(part, panel.words + first_group * group_words * kPanel,
           panel.scales + first_group * kPanel, panel.minimums + first_group * kPanel,
           out.row_data(row), out.stride);
      part.digits += rows * part.digits_stride;
      part.groups += rows * part.groups_stride;
      row += rows;
    };
    while (out.rows - row >= 4) {
      add(four_, 4);
    }
    if (out.rows - row >= 2) {
      add(two_, 2);
    }
    if (out.rows - row == 1) {
      add(one_, 1);
    }
  }

 private:
  AddTile one_;
  AddTile two_;
  AddTile four_;
};

// The product of at most kMostRows rows.
class RowsProduct {
 public:
  RowsProduct(ConstMatrix x, const StoredMatrix& w, Matrix out)
      : x_(x),
        out_(out),
        type_(unpacker(w.type)),
        tiles_(type_),
        data_(static_cast<const std::uint8_t*>(w.data)),
        row_bytes_(stored_bytes(w.type, w.stride)),
        skip_(w.skip),
        end_(w.skip + x.cols),
        depth_(std::min(kMostNumbers / std::max(x.rows, std::size_t{1}) / kDepth * kDepth,
                        x.rows > 2 ? kMostDepth : kDepthOfFew)) {}

  void add() {
    for (std::size_t first = 0; first < end_; first += depth_) {
      type_.group == 16 ? make_activations<1>(first) : make_activations<2>(first);
      const std::size_t end = std::min(first + depth_, end_);
      std::size_t col = 0;
      for (; has_lanes(first, end, col); col += kLanes) {
        multiply_lanes(first, end, col);
      }
      for (; col < out_.cols; col += kPanel) {
        for (std::size_t at = first; at < end; at += kDepth) {
          add_panel(first, at, std::min(kDepth, end - at), col);
        }
      }
    }
  }

 private:
  // Converts the numbers [first, first + depth_) of each row.
  template <std::size_t kVectors>
  ATTNVIZ_VNNI void make_activations(std::size_t first) {
    constexpr std::size_t kGroup = kVectors * kLanes;
    const std::size_t end = std::min(first + depth_, end_);
    for (std::size_t row = 0; row < x_.rows; ++row) {
      const float* const numbers = x_.row_data(row);
      for (std::size_t at = std::max(first, skip_ / kGroup * kGroup); at < end; at += kGroup) {
        // The rows' pieces are too short for the processor to predict the next one.
        for (std::size_t i = at - skip_; i < at - skip_ + kGroup; i += kLanes) {
          _mm_prefetch(numbers + 2 * x_.stride + i, _MM_HINT_T0);
        }
        const std::size_t place = row * depth_ + at - first;
        activations_.groups[place / kGroup] = make_group<kVectors>(
            numbers, static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(skip_),
            static_cast<std::ptrdiff_t>(x_.cols), activations_.digits + place * 4);
      }
    }
  }

  const std::uint8_t* block_at(std::size_t row, std::size_t number) const {
    return data_ + row * row_bytes_ + number / type_.block.numbers * type_.block.bytes;
  }

  // Returns a panel's columns and what to prefetch: where whole columns are read, as much as
  // follows them in memory; otherwise the panel that is kPanelsAhead ahead.
  PanelSource source(std::size_t first, std::size_t at, std::size_t n_blocks, std::size_t col,
                     std::size_t cols) const {
    const std::size_t place = (at - first) / kDepth;
    PanelSource from{block_at(col, at), row_bytes_, nullptr, row_bytes_, n_blocks, cols};
    if (first == 0 && end_ <= depth_) {
      from.later_row_bytes = n_blocks * type_.block.bytes;
      from.later = block_at(col + cols, 0) + place * kPanel * from.later_row_bytes;
    } else {
      const std::size_t n_panels = (std::min(first + depth_, end_) - first + kDepth - 1) / kDepth;
      const std::size_t ahead = place + kPanelsAhead;
      from.later = block_at(col + ahead / n_panels * cols, first + ahead % n_panels * kDepth);
    }
    return from;
  }

  // Whether columns [col, col + kLanes) of these numbers are multiplied while they are unpacked.
  bool has_lanes(std::size_t first, std::size_t end, std::size_t col) const {
    return type_.multiply_lanes != nullptr && x_.rows == 1 && col + kLanes <= out_.cols &&
           first >= skip_ && (end - first) % type_.block.numbers == 0;
  }
  // Multiplies these columns, and prefetches the ones that follow.
  void multiply_lanes(std::size_t first, std::size_t end, std::size_t col) {
    const auto [numbers, bytes] = type_.block;
    const std::size_t n_groups = numbers / type_.group;
    const std::size_t n_blocks = (end - first) / numbers;
    const std::uint8_t* const blocks = block_at(col, first);
    const std::uint8_t* later = block_at(col + kLanesAhead, first);
    // In memory order. Divisions would take a tenth of the time.
    for (std::size_t i = 0, later_block = 0; i < n_blocks; ++i) {
      type_.multiply_lanes(blocks + i * bytes, row_bytes_, later + later_block * bytes,
                           activations_.digits + i * numbers * 4,
                           activations_.groups + i * n_groups, out_.row_data(0) + col);
      for (later_block += kLanes; later_block >= n_blocks; later_block -= n_blocks) {
        later += row_bytes_;
      }
    }
  }

  void add_panel(std::size_t first, std::size_t at, std::size_t depth, std::size_t col) {
    const std::size_t cols = std::min(kPanel, out_.cols - col);
    const std::size_t n_blocks = (depth + type_.block.numbers - 1) / type_.block.numbers;
    const PanelSource from = source(first, at, n_blocks, col, cols);
    make_panel(from, type_, panel_);
    const std::size_t first_group = at < skip_ ? (skip_ - at) / type_.group : 0;
    const std::size_t place = at - first + first_group * type_.group;
    const Part part{activations_.digits + place * 4, activations_.groups + place / type_.group,
                    depth_ * 4, depth_ / type_.group,
                    (depth + type_.group - 1) / type_.group - first_group};
    const std::size_t words = type_.group / kWord;
    const Matrix sums = out_.col_block(col, cols);
    if (cols == kPanel) {
      return tiles_.add(part, panel_, first_group, words, sums);
    }
    alignas(64) float whole[kMostRows * kPanel];
    for (std::size_t row = 0; row < sums.rows; ++row) {
      std::copy_n(sums.row_data(row), cols, whole + row * kPanel);
      std::fill(whole + row * kPanel + cols, whole + (row + 1) * kPanel, 0.0f);
    }
    tiles_.add(part, panel_, first_group, words, {whole, sums.rows, kPanel, kPanel});
    for (std::size_t row = 0; row < sums.rows; ++row) {
      std::copy_n(whole + row * kPanel, cols, sums.row_data(row));
    }
  }

  ConstMatrix x_;
  Matrix out_;
  Unpacker type_;
  Tiles tiles_;
  const std::uint8_t* data_;
  std::size_t row_bytes_;
  std::size_t skip_;
  std::size_t end_;
  std::size_t depth_;
  Activations activations_;
  WeightPanel panel_;
};

}  // namespace

bool has_integer_products() noexcept {
  static const bool has = can_unpack_lanes() && ATTNVIZ_HAS_CPU_FEATURE(AVX512_VNNI, "avx512vnni");
  return has;
}

void integer_matmul(ConstMatrix x, const StoredMatrix& w, const float* bias, bool adds,
                    Matrix out) noexcept {
  for (std::size_t row = 0; row < out.rows && !adds; ++row) {
    float* const to = out.row_data(row);
    bias == nullptr ? std::fill_n(to, out.cols, 0.0f) : std::copy_n(bias, out.cols, to);
  }
  for (std::size_t row = 0; row < out.rows; row += kMostRows) {
    const std::size_t n_rows = std::min(kMostRows, out.rows - row);
    RowsProduct(x.row_block(row, n_rows), w, out.row_block(row, n_rows)).add();
  }
}

}  // namespace attnviz::kernels
#else
#include <cassert>

namespace attnviz::kernels {

bool has_integer_products() noexcept {
  return false;
}

void integer_matmul(ConstMatrix, const StoredMatrix&, const float*, bool, Matrix) noexcept {
  assert(false);
}

}  // namespace attnviz::kernels
#endif
