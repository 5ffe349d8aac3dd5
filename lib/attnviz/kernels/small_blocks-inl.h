// Types of 32 numbers a block: a scale of 16 bits (MXFP4: of 8), then nibbles or bytes. Included
// once per SIMD target.

#if defined(ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_
#undef ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_
#else
#define ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "attnviz/kernels/block_bits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of bytes with 16 where a bit is set, from bit i of 32 on.
template <class D>
HWY_INLINE hn::Vec<D> sixteen_where_set(D d, const std::uint8_t* bits, std::size_t i) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<std::uint8_t>((bits[i / 8] >> i % 8 & 1) << 4));
#else
  return hn::IfThenElseZero(hn::LoadMaskBits(d, bits + i / 8), hn::Set(d, 16));
#endif
}

// Number j is in the lower nibble of byte j, number 16 + j in the upper one.
struct BlocksQ40 : BlockLayout<32, 18, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = half_at(block);
    split_nibbles<16>(block + 2, to.quants, to.quants + 16,
                      [](auto d, std::size_t /*i*/, auto nibbles)
                          HWY_ATTR { return hn::Sub(nibbles, hn::Set(d, 8)); });
  }
};

// A scale, and what is added.
struct BlocksQ41 : BlockLayout<32, 20, 32, true> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = half_at(block);
    to.minimums[0] = -half_at(block + 2);
    split_nibbles<16>(block + 4, to.quants, to.quants + 16,
                      [](auto, std::size_t /*i*/, auto nibbles) HWY_ATTR { return nibbles; });
  }
};

// Each number's fifth bit is one of 32 before the nibbles.
struct BlocksQ50 : BlockLayout<32, 22, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = half_at(block);
    split_nibbles<16>(block + 6, to.quants, to.quants + 16,
                      [block](auto d, std::size_t i, auto nibbles) HWY_ATTR {
                        return hn::Sub(hn::Or(nibbles, sixteen_where_set(d, block + 2, i)),
                                       hn::Set(d, 16));
                      });
  }
};

struct BlocksQ51 : BlockLayout<32, 24, 32, true> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = half_at(block);
    to.minimums[0] = -half_at(block + 2);
    split_nibbles<16>(block + 8, to.quants, to.quants + 16,
                      [block](auto d, std::size_t i, auto nibbles)
                          HWY_ATTR { return hn::Or(nibbles, sixteen_where_set(d, block + 4, i)); });
  }
};

struct BlocksQ80 : BlockLayout<32, 34, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = half_at(block);
    std::memcpy(to.quants, block + 2, 32);
  }
};

// Sixteen values that lie closer together around 0.
alignas(16) constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                    1,    13,   25,  38,  53,  69,  89,  113};

struct BlocksIQ4NL : BlockLayout<32, 18, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = half_at(block);
    split_nibbles<16>(block + 2, to.quants, to.quants + 16, NibbleTable{kIq4Values});
  }
};

// Floating-point numbers of 4 bits (sign, exponent of 2, fraction of 1), doubled to be integers.
alignas(16) constexpr std::int8_t kFp4Values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                    0, -1, -2, -3, -4, -6, -8, -12};

struct BlocksMXFP4 : BlockLayout<32, 17, 32> {
  // 2^(exponent - 128): half of the scale, as quants are doubled.
  static HWY_INLINE float scale(std::uint32_t exponent) {
    return std::bit_cast<float>(exponent < 2 ? std::uint32_t{0x00200000} << exponent
                                             : (exponent - 1) << 23);
  }
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    to.scales[0] = scale(block[0]);
    split_nibbles<16>(block + 1, to.quants, to.quants + 16, NibbleTable{kFp4Values});
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
