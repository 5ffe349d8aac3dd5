// Types of 256 numbers a block that are indices of a codebook's rows of 4 or 8 numbers. Included
// once per SIMD target.

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
#include <cstring>

#include "attnviz/kernels/block_bits-inl.h"
#include "attnviz/kernels/codebooks.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A byte eight times.
HWY_INLINE std::uint64_t eight_times(std::uint64_t byte) {
  return byte * 0x0101010101010101u;
}

// Eight positive bytes; those whose bit is set become negative.
HWY_INLINE std::uint64_t with_signs(std::uint64_t bytes, std::uint32_t signs) {
  constexpr std::uint64_t kBitOfEachByte = 0x8040201008040201u;
  const std::uint64_t bits = eight_times(signs) & kBitOfEachByte;
  // 1 in each byte whose bit is set: it cannot carry, as 127 + a bit does not.
  const std::uint64_t ones =
      (((bits & eight_times(0x7F)) + eight_times(0x7F)) | bits) >> 7 & eight_times(1);
  return (bytes ^ ones * 0xFF) + ones;  // no byte is 0, so that none of its complements is 255
}

// Seven signs; the eighth makes their number even.
HWY_INLINE std::uint32_t even_signs(std::uint32_t seven) {
  return seven | static_cast<std::uint32_t>(std::popcount(seven) & 1) << 7;
}

HWY_INLINE void store_eight(std::uint64_t bytes, std::int8_t* to) {
  std::memcpy(to, &bytes, sizeof(bytes));
}

HWY_INLINE float quarter_scale(float d, std::uint32_t scale) {
  return d * (0.5f + static_cast<float>(scale)) * 0.25f;
}

// A group of 32 in 8 bytes: four indices, four times seven signs, a scale of 4 bits.
struct BlocksIQ2_XXS : BlockLayout<256, 66, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    for (std::size_t group = 0; group < 8; ++group) {
      const std::uint8_t* const indices = block + 2 + 8 * group;
      const auto signs = word_at<std::uint32_t>(indices + 4);
      to.scales[group * to.step] = quarter_scale(d, signs >> 28);
      for (unsigned i = 0; i < 4; ++i) {
        store_eight(with_signs(kIq2XxsCodebook[indices[i]], even_signs(signs >> 7 * i & 127)),
                    to.quants + 32 * group + std::size_t{8} * i);
      }
    }
  }
};

// Eight numbers in 2 bytes: an index and seven signs. Scales of 4 bits.
struct BlocksIQ2_XS : BlockLayout<256, 74, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    for (std::size_t pair = 0; pair < 8; ++pair) {
      const std::uint8_t scales = block[66 + pair];
      to.scales[2 * pair * to.step] = quarter_scale(d, scales & 15);
      to.scales[(2 * pair + 1) * to.step] = quarter_scale(d, scales >> 4);
    }
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint32_t word = word_at<std::uint16_t>(block + 2 + 2 * i);
      store_eight(with_signs(kIq2XsCodebook[word & 511], even_signs(word >> 9)), to.quants + 8 * i);
    }
  }
};

// Bytes of indices, of signs, of the indices' upper two bits, and of two scales each.
struct BlocksIQ2_S : BlockLayout<256, 82, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    for (std::size_t pair = 0; pair < 8; ++pair) {
      const std::uint8_t scales = block[74 + pair];
      to.scales[2 * pair * to.step] = quarter_scale(d, scales & 15);
      to.scales[(2 * pair + 1) * to.step] = quarter_scale(d, scales >> 4);
      const std::uint32_t upper = block[66 + pair];
      for (unsigned i = 0; i < 4; ++i) {
        const std::size_t at = 4 * pair + i;
        const std::uint32_t index = block[2 + at] | (upper >> 2 * i & 3) << 8;
        store_eight(with_signs(kIq2SCodebook[index], block[34 + at]), to.quants + 8 * at);
      }
    }
  }
};

// Two codebook rows of four.
HWY_INLINE std::uint64_t pair_of(std::uint32_t first, std::uint32_t second) {
  return first | std::uint64_t{second} << 32;
}

// Indices of four numbers; then, for each 32 numbers, four times seven signs and a scale.
struct BlocksIQ3_XXS : BlockLayout<256, 98, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    for (std::size_t group = 0; group < 8; ++group) {
      const std::uint8_t* const indices = block + 2 + 8 * group;
      const auto signs = word_at<std::uint32_t>(block + 66 + 4 * group);
      to.scales[group * to.step] = d * (0.5f + static_cast<float>(signs >> 28)) * 0.5f;
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint64_t numbers =
            pair_of(kIq3XxsCodebook[indices[2 * i]], kIq3XxsCodebook[indices[2 * i + 1]]);
        store_eight(with_signs(numbers, even_signs(signs >> 7 * i & 127)),
                    to.quants + 32 * group + std::size_t{8} * i);
      }
    }
  }
};

// Indices of four numbers, their ninth bits, signs, and scales of 4 bits.
struct BlocksIQ3_S : BlockLayout<256, 110, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    const auto scales = word_at<std::uint32_t>(block + 106);
    for (unsigned group = 0; group < 8; ++group) {
      to.scales[group * to.step] = d * static_cast<float>(1 + 2 * (scales >> 4 * group & 15));
      const std::uint8_t* const indices = block + 2 + std::size_t{8} * group;
      const std::uint32_t upper = block[66 + group];
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint32_t first = indices[2 * i] | (upper >> 2 * i & 1) << 8;
        const std::uint32_t second = indices[2 * i + 1] | (upper >> (2 * i + 1) & 1) << 8;
        const std::size_t at = std::size_t{4} * group + i;
        store_eight(
            with_signs(pair_of(kIq3SCodebook[first], kIq3SCodebook[second]), block[74 + at]),
            to.quants + 8 * at);
      }
    }
  }
};

// Eight numbers of -1, 0 and 1, plus or minus an eighth: eight times that.
HWY_INLINE std::uint64_t eighths(std::uint32_t index, bool minus) {
  const std::uint64_t numbers = kIq1Codebook[index] + eight_times(1) - (minus ? eight_times(2) : 0);
  return numbers ^ eight_times(0x80);
}
HWY_INLINE float odd_scale(float d, std::uint32_t scale) {
  return d * static_cast<float>(2 * scale + 1) * 0.125f;
}

// Bytes of indices, then words: four times the upper three bits of one, a scale of 3 bits, and
// whether the eighth is taken away.
struct BlocksIQ1_S : BlockLayout<256, 50, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    for (std::size_t group = 0; group < 8; ++group) {
      const std::uint32_t word = word_at<std::uint16_t>(block + 34 + 2 * group);
      to.scales[group * to.step] = odd_scale(d, word >> 12 & 7);
      for (unsigned i = 0; i < 4; ++i) {
        const std::size_t at = 4 * group + i;
        store_eight(eighths(block[2 + at] | (word >> 3 * i & 7) << 8, (word & 0x8000) != 0),
                    to.quants + 8 * at);
      }
    }
  }
};

// Bytes of indices; nibbles of their upper three bits and whether the eighth is taken away; words
// of four scales of 3 bits, whose upper nibbles make the half that all are multiplied by.
struct BlocksIQ1_M : BlockLayout<256, 56, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const auto words = word_at<std::uint64_t>(block + 48);
    const std::uint64_t bits =
        (words >> 12 & 0xF) | (words >> 24 & 0xF0) | (words >> 36 & 0xF00) | (words >> 48 & 0xF000);
    const float d = half(static_cast<std::uint16_t>(bits));
    for (unsigned group = 0; group < 16; ++group) {
      const std::uint64_t scale = words >> (group / 4 * 16 + group % 4 * 3) & 7;
      to.scales[group * to.step] = odd_scale(d, static_cast<std::uint32_t>(scale));
    }
    for (std::size_t at = 0; at < 32; ++at) {
      const std::uint32_t nibble = block[32 + at / 2] >> (at % 2 * 4) & 15u;
      store_eight(eighths(block[at] | (nibble & 7) << 8, (nibble & 8) != 0), to.quants + 8 * at);
    }
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
