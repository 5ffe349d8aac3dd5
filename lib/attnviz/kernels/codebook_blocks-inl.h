// Types with 256 numbers per block, stored as indices into a codebook whose rows have 4 or 8
// numbers. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_CODEBOOK_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_CODEBOOK_BLOCKS_INL_H_
#undef ATTNVIZ_KERNELS_CODEBOOK_BLOCKS_INL_H_
#else
#define ATTNVIZ_KERNELS_CODEBOOK_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "attnviz/kernels/block_bits-inl.h"
#include "attnviz/kernels/unpack.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Repeats a byte eight times.
HWY_INLINE std::uint64_t eight_times(std::uint64_t byte) {
  return byte * 0x0101010101010101u;
}

// Negates a block's positive quants where the sign bit is set.
HWY_INLINE void set_signs(const std::uint8_t* signs, std::int8_t* quants) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < 256; ++i) {
    const int bit = signs[i / 8] >> i % 8 & 1;
    quants[i] = static_cast<std::int8_t>((quants[i] ^ -bit) + bit);
  }
#else
  const hn::CappedTag<std::int8_t, 64> d;
  for (std::size_t i = 0; i < 256; i += hn::Lanes(d)) {
    const auto numbers = hn::LoadU(d, quants + i);
    const auto is_negative = hn::LoadMaskBits(d, signs + i / 8);
    hn::StoreU(hn::IfThenElse(is_negative, hn::Neg(numbers), numbers), d, quants + i);
  }
#endif
}

// Seven sign bits; the eighth makes the number of set bits even.
HWY_INLINE std::uint8_t even_signs(std::uint32_t seven) {
  return static_cast<std::uint8_t>(seven | static_cast<std::uint32_t>(std::popcount(seven)) << 7);
}

// Scales are odd multiples of an eighth, a quarter or all of the block's scale.
HWY_INLINE float odd_scale(float step, std::uint32_t scale) {
  return step * static_cast<float>(static_cast<std::int32_t>(2 * scale + 1));
}

// Groups of 32 numbers in 8 bytes: four indices, four times seven signs, a scale of 4 bits.
struct BlocksIQ2XXS : BlockLayout<256, 66, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    std::uint8_t signs_of[32];
    const float d = 0.125f * half_at(block);
    for (std::size_t group = 0; group < 8; ++group) {
      const std::uint8_t* const indices = block + 2 + 8 * group;
      const auto signs = word_at<std::uint32_t>(indices + 4);
      to.scales[group * to.step] = odd_scale(d, signs >> 28);
      for (unsigned i = 0; i < 4; ++i) {
        const std::size_t at = 4 * group + i;
        store_word(kIq2XxsCodebook[indices[i]], to.quants + 8 * at);
        signs_of[at] = even_signs(signs >> 7 * i & 127);
      }
    }
    set_signs(signs_of, to.quants);
  }
};

// Eight numbers in 2 bytes: an index and seven signs. Scales of 4 bits.
struct BlocksIQ2XS : BlockLayout<256, 74, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = 0.125f * half_at(block);
    for (std::size_t pair = 0; pair < 8; ++pair) {
      const std::uint8_t bytes = block[66 + pair];
      to.scales[2 * pair * to.step] = odd_scale(d, bytes & 15);
      to.scales[(2 * pair + 1) * to.step] = odd_scale(d, bytes >> 4);
    }
    std::uint8_t signs[32];
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint32_t word = word_at<std::uint16_t>(block + 2 + 2 * i);
      store_word(kIq2XsCodebook[word & 511], to.quants + 8 * i);
      signs[i] = even_signs(word >> 9);
    }
    set_signs(signs, to.quants);
  }
};

// Bytes of indices, of signs, of the indices' upper two bits, and of two scales each.
struct BlocksIQ2S : BlockLayout<256, 82, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = 0.125f * half_at(block);
    for (std::size_t pair = 0; pair < 8; ++pair) {
      const std::uint8_t bytes = block[74 + pair];
      to.scales[2 * pair * to.step] = odd_scale(d, bytes & 15);
      to.scales[(2 * pair + 1) * to.step] = odd_scale(d, bytes >> 4);
      const std::uint32_t upper = block[66 + pair];
      for (unsigned i = 0; i < 4; ++i) {
        const std::size_t at = 4 * pair + i;
        const std::uint32_t index = block[2 + at] | (upper >> 2 * i & 3) << 8;
        store_word(kIq2SCodebook[index], to.quants + 8 * at);
      }
    }
    set_signs(block + 34, to.quants);
  }
};

// Joins two codebook rows of four numbers.
HWY_INLINE std::uint64_t pair_of(std::uint32_t first, std::uint32_t second) {
  return first | std::uint64_t{second} << 32;
}

// Indices of four numbers; then, for each 32 numbers, four times seven signs and a scale.
struct BlocksIQ3XXS : BlockLayout<256, 98, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    std::uint8_t signs_of[32];
    const float d = 0.25f * half_at(block);
    for (std::size_t group = 0; group < 8; ++group) {
      const std::uint8_t* const indices = block + 2 + 8 * group;
      const auto signs = word_at<std::uint32_t>(block + 66 + 4 * group);
      to.scales[group * to.step] = odd_scale(d, signs >> 28);
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint64_t numbers =
            pair_of(kIq3XxsCodebook[indices[2 * i]], kIq3XxsCodebook[indices[2 * i + 1]]);
        const std::size_t at = 4 * group + i;
        store_word(numbers, to.quants + 8 * at);
        signs_of[at] = even_signs(signs >> 7 * i & 127);
      }
    }
    set_signs(signs_of, to.quants);
  }
};

// Indices of four numbers, their ninth bits, signs, and scales of 4 bits.
struct BlocksIQ3S : BlockLayout<256, 110, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    const auto nibbles = word_at<std::uint32_t>(block + 106);
    for (unsigned group = 0; group < 8; ++group) {
      to.scales[group * to.step] = odd_scale(d, nibbles >> 4 * group & 15);
      const std::uint8_t* const indices = block + 2 + std::size_t{8} * group;
      const std::uint32_t upper = block[66 + group];
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t first = indices[2 * i] | (upper >> 2 * i & 1) << 8;
        const std::uint32_t second = indices[2 * i + 1] | (upper >> (2 * i + 1) & 1) << 8;
        const std::size_t at = std::size_t{4} * group + i;
        store_word(pair_of(kIq3SCodebook[first], kIq3SCodebook[second]), to.quants + 8 * at);
      }
    }
    set_signs(block + 74, to.quants);
  }
};

// Eight numbers of -1, 0 and 1, plus an eighth, or minus an eighth if minus == 1; returned in
// eighths.
HWY_INLINE std::uint64_t eighths(std::uint32_t index, std::uint32_t minus) {
  const std::uint64_t shift = eight_times(1) - minus * eight_times(2);
  return (kIq1Codebook[index] + shift) ^ eight_times(0x80);
}
// Bytes of indices, then words: the upper three bits of four indices, a scale of 3 bits, and the
// sign of the eighth.
struct BlocksIQ1S : BlockLayout<256, 50, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = 0.125f * half_at(block);
    for (std::size_t group = 0; group < 8; ++group) {
      const std::uint32_t word = word_at<std::uint16_t>(block + 34 + 2 * group);
      to.scales[group * to.step] = odd_scale(d, word >> 12 & 7);
      for (unsigned i = 0; i < 4; ++i) {
        const std::size_t at = 4 * group + i;
        store_word(eighths(block[2 + at] | (word >> 3 * i & 7) << 8, word >> 15),
                   to.quants + 8 * at);
      }
    }
  }
};

// Bytes of indices; nibbles with their upper three bits and the sign of the eighth; words with four
// scales of 3 bits each, whose upper nibbles form the half-precision factor of all scales.
struct BlocksIQ1M : BlockLayout<256, 56, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const auto words = word_at<std::uint64_t>(block + 48);
    const std::uint64_t bits =
        (words >> 12 & 0xF) | (words >> 24 & 0xF0) | (words >> 36 & 0xF00) | (words >> 48 & 0xF000);
    const float d = 0.125f * half(static_cast<std::uint16_t>(bits));
    for (unsigned group = 0; group < 16; ++group) {
      const std::uint64_t scale = words >> (group / 4 * 16 + group % 4 * 3) & 7;
      to.scales[group * to.step] = odd_scale(d, static_cast<std::uint32_t>(scale));
    }
    for (std::size_t at = 0; at < 32; ++at) {
      const std::uint32_t byte = block[32 + at / 2];
      const std::uint32_t nibble = byte >> (at % 2 * 4) & 15u;
      store_word(eighths(block[at] | (nibble & 7) << 8, nibble >> 3), to.quants + 8 * at);
    }
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
