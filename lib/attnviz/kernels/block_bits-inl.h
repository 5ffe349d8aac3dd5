// What unpacking blocks of any type begins with: halves, nibbles, fields of bits. Included once per
// SIMD target.

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

#include "attnviz/core/float16.h"
#include "attnviz/kernels/unpack.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What a type's blocks are like, for structs that have `unpack` beside it.
template <std::size_t kNumbersABlock, std::size_t kBytesABlock, std::size_t kNumbersAGroup,
          bool kMinimums = false>
struct BlockLayout {
  static constexpr std::size_t kNumbers = kNumbersABlock;
  static constexpr std::size_t kBytes = kBytesABlock;
  static constexpr std::size_t kGroup = kNumbersAGroup;
  static constexpr bool kHasMinimums = kMinimums;
};

// Blocks are little-endian, and so are words that stand for several bytes, on every machine.
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

// All groups of a block share one scale.
template <class Blocks>
HWY_INLINE void share_scale(float scale, const UnpackedBlocks& to) {
  for (std::size_t group = 0; group < Blocks::kNumbers / Blocks::kGroup; ++group) {
    to.scales[group * to.step] = scale;
  }
}

// Small integers times a factor, as scales or minimums of groups.
template <std::size_t kCount>
HWY_INLINE void store_scaled(float factor, const std::int8_t* integers, float* to,
                             std::size_t step) {
  const hn::CappedTag<float, HWY_MIN(kCount, 16)> d;
  const hn::RebindToSigned<decltype(d)> words;
  const hn::Rebind<std::int8_t, decltype(d)> bytes;
  HWY_ALIGN float scaled[kCount];
  for (std::size_t i = 0; i < kCount; i += hn::Lanes(d)) {
    const auto numbers = hn::ConvertTo(d, hn::PromoteTo(words, hn::LoadU(bytes, integers + i)));
    hn::Store(hn::Mul(numbers, hn::Set(d, factor)), d, scaled + i);
  }
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kCount; ++i) {
    to[i * step] = scaled[i];
  }
}

// As many bytes as a vector has, but no more than there are.
template <std::size_t kCount>
using Bytes = hn::CappedTag<std::uint8_t, kCount>;

// work(tag, i) for every vector of kCount bytes; byte i is its first.
template <std::size_t kCount, class Work>
HWY_INLINE void for_each_vector_of_bytes(const Work& work) {
  const Bytes<kCount> d;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kCount; i += hn::Lanes(d)) {
    work(d, i);
  }
}

template <class D>
HWY_INLINE void store_quants(hn::Vec<D> bytes, D d, std::int8_t* to) {
  hn::StoreU(bytes, d, reinterpret_cast<std::uint8_t*>(to));
}

// Each of kCount bytes holds two quants: the lower nibbles go to `low`, the upper ones to `high`,
// both as map(tag, i, nibbles) makes them.
template <std::size_t kCount, class Map>
HWY_INLINE void split_nibbles(const std::uint8_t* from, std::int8_t* low, std::int8_t* high,
                              const Map& map) {
  for_each_vector_of_bytes<kCount>([&](auto d, std::size_t i) HWY_ATTR {
    const auto bytes = hn::LoadU(d, from + i);
    store_quants(map(d, i, hn::And(bytes, hn::Set(d, 15))), d, low + i);
    store_quants(map(d, 16 + i, hn::ShiftRight<4>(bytes)), d, high + i);
  });
}

// Sixteen bytes, looked up by nibbles.
struct NibbleTable {
  const std::int8_t* table;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, std::size_t /*i*/, hn::Vec<D> nibbles) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(table);
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, bytes[hn::GetLane(nibbles)]);
#else
    return hn::TableLookupBytes(hn::LoadDup128(d, bytes), nibbles);
#endif
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
