// A row of activations as integers, for products of quantised weights and a single row. Included
// once per SIMD target.

#if defined(ATTNVIZ_KERNELS_INTEGER_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_INTEGER_ROW_INL_H_
#undef ATTNVIZ_KERNELS_INTEGER_ROW_INL_H_
#else
#define ATTNVIZ_KERNELS_INTEGER_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/unpack.h"

#if HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Numbers that are converted at a time: their digits stay in the first-level cache.
constexpr std::size_t kIntegersAtOnce = 4096;

class IntegerRowBuffer {
 public:
  explicit IntegerRowBuffer(const Unpacker& type) : type_(type) {}

  IntegerRow row() const { return {digits_, units_, sums_}; }

  // Converts numbers [first, first + count) of a row that has `before` zeros before `x`, and as
  // many as needed after it. `count` is a multiple of 32.
  void convert(std::span<const float> x, std::size_t before, std::size_t first, std::size_t count) {
    for (std::size_t at = 0; at < count; at += 32) {
      const std::size_t number = first + at;
      HWY_ALIGN float filled[32] = {};
      const float* from = filled;
      if (number >= before && number + 32 <= before + x.size()) {
        from = x.data() + number - before;
      } else {
        const std::size_t end = std::min(number + 32, before + x.size());
        for (std::size_t i = std::max(number, before); i < end; ++i) {
          filled[i - number] = x[i - before];
        }
      }
      HWY_ALIGN std::int32_t whole[32];
      for (std::size_t i = 0; i < 32; i += type_.group) {
        convert_group(from + i, (at + i) / type_.group, whole + i);
      }
      type_.multiplies_bytes ? store_bytes(whole, digits_ + 4 * at)
                             : store_words(whole, digits_ + 4 * at);
    }
  }

 private:
  HWY_INLINE void convert_group(const float* from, std::size_t group, std::int32_t* to) {
    const hn::FixedTag<float, 8> d;
    const hn::RebindToSigned<decltype(d)> di;
    auto largest = hn::Zero(di);
    for (std::size_t i = 0; i < type_.group; i += 8) {
      // Compared as integers, so that NaN is the largest.
      largest = hn::Max(largest, hn::BitCast(di, hn::Abs(hn::LoadU(d, from + i))));
    }
    constexpr std::uint32_t kInfinity = 0x7F800000;
    constexpr std::uint32_t kLargestDigits = 0x00020000;  // beyond 1.98 a first digit would be 128
    const auto bits = static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(di, largest)));
    const std::uint32_t exponent = std::max((bits + kLargestDigits) >> 23, 23u);
    const bool is_finite = bits < kInfinity;  // else integers are 0, and their unit is NaN
    const auto power = [](std::uint32_t biased) { return std::bit_cast<float>(biased << 23); };
    const auto per_unit = hn::Set(d, power(276 - exponent));
    const auto kept = hn::Set(di, is_finite ? -1 : 0);
    auto sum = hn::Zero(di);
    for (std::size_t i = 0; i < type_.group; i += 8) {
      const auto scaled = hn::Mul(hn::LoadU(d, from + i), per_unit);
      const auto integers = hn::And(hn::NearestInt(scaled), kept);
      hn::Store(integers, di, to + i);
      sum = hn::Add(sum, integers);
    }
    const float unit = is_finite ? power(exponent - 22) : std::numeric_limits<float>::quiet_NaN();
    units_[group] = unit;
    sums_[group] = static_cast<float>(hn::GetLane(hn::SumOfLanes(di, sum))) * unit;
  }

  static HWY_INLINE void store_bytes(const std::int32_t* whole, std::int8_t* to) {
    for (std::size_t i = 0; i < 32; ++i) {
      // With 128 added, the digits are those of base 256.
      const std::uint32_t digits = static_cast<std::uint32_t>(whole[i]) + 0x00808080u;
      to[i] = static_cast<std::int8_t>((digits >> 16) ^ 0x80u);
      to[32 + i] = static_cast<std::int8_t>((digits >> 8) ^ 0x80u);
      to[64 + i] = static_cast<std::int8_t>(digits ^ 0x80u);
    }
  }
  static HWY_INLINE void store_words(const std::int32_t* whole, std::int8_t* to) {
    HWY_ALIGN std::int16_t words[64];
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t place = i / 2 + i % 2 * 16;
      const std::int32_t first = (whole[i] + 2048) >> 12;
      words[place] = static_cast<std::int16_t>(first);
      words[32 + place] = static_cast<std::int16_t>(whole[i] - (first << 12));
    }
    std::memcpy(to, words, sizeof(words));
  }

  const Unpacker& type_;
  alignas(64) std::int8_t digits_[4 * kIntegersAtOnce];
  float units_[kIntegersAtOnce / 16];
  float sums_[kIntegersAtOnce / 16];
};

// out += x · w
HWY_NOINLINE void add_row_of_integers(std::span<const float> x, const StoredMatrix& w,
                                      const Unpacker& type, std::span<float> out) {
  const auto [numbers, bytes] = type.block;
  const std::size_t column_bytes = stored_bytes(w.type, w.stride);
  const auto* const data = static_cast<const std::uint8_t*>(w.data);
  const std::size_t end = (w.skip + x.size() + numbers - 1) / numbers * numbers;
  IntegerRowBuffer row(type);
  for (std::size_t first = w.skip / numbers * numbers; first < end; first += kIntegersAtOnce) {
    const std::size_t count = std::min(kIntegersAtOnce, end - first);
    row.convert(x, w.skip, first, count);
    type.multiply_alone(row.row(), data + first / numbers * bytes, column_bytes, count / numbers,
                        out);
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
