// Helpers for unpacking blocks of any type: halves, nibbles, bit fields. Included once per SIMD
// target.

#if defined(ATTNVIZ_KERNELS_BLOCK_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_BLOCK_BITS_INL_H_
#undef ATTNVIZ_KERNELS_BLOCK_BITS_INL_H_
#else
#define ATTNVIZ_KERNELS_BLOCK_BITS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/unpack.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The layout of a type's blocks, as a base of structs that add `unpack`. From byte kFirstAligned on
// they consist of words of four bytes. Quants become unsigned when kAdded is added, and are then
// kMost or less; types with few values say so.
template <std::size_t kNumbersABlock, std::size_t kBytesABlock, std::size_t kNumbersAGroup,
          bool kMinimums = false, std::size_t kFirstAligned = 0>
struct BlockLayout {
  static constexpr std::size_t kAligned = kFirstAligned;
  static constexpr std::size_t kNumbers = kNumbersABlock;
  static constexpr std::size_t kBytes = kBytesABlock;
  static constexpr std::size_t kGroup = kNumbersAGroup;
  static constexpr bool kHasMinimums = kMinimums;
  static constexpr std::uint8_t kAdded = 128;
  static constexpr std::uint8_t kMost = 255;
};

// Blocks, and words that combine several bytes, are little-endian on every machine.
template <class Word>
HWY_INLINE Word little_endian(Word word) {
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(Word)>>(word);
  if constexpr (std::endian::native == std::endian::big) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<Word>(bytes);
}
template <class Word>
HWY_INLINE Word word_at(const std::uint8_t* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return little_endian(word);
}
template <class Word>
HWY_INLINE void store_word(Word word, std::int8_t* to) {
  word = little_endian(word);
  std::memcpy(to, &word, sizeof(word));
}

HWY_INLINE float half(std::uint16_t bits) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const hn::CappedTag<float, 4> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const hn::Rebind<std::uint16_t, decltype(d)> word;
  return hn::GetLane(hn::PromoteTo(d, hn::BitCast(half, hn::Set(word, bits))));
#else
  return float_from_half(bits);
#endif
}
HWY_INLINE float half_at(const std::uint8_t* from) {
  return half(word_at<std::uint16_t>(from));
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
