// Types of 256 numbers a block, in groups of 16 or 32 with small integer scales (and minimums) of
// their own, by which one or two halves are multiplied. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_LARGE_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_LARGE_BLOCKS_INL_H_
#undef ATTNVIZ_KERNELS_LARGE_BLOCKS_INL_H_
#else
#define ATTNVIZ_KERNELS_LARGE_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "attnviz/kernels/block_bits-inl.h"
#include "attnviz/kernels/small_blocks-inl.h"
#include "attnviz/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// work(Size<0>), work(Size<1>), …: for shifts, which are known when a loop is compiled.
template <std::size_t kCount, std::size_t kFirst = 0, class Work>
HWY_INLINE void for_each_size(const Work& work) {
  if constexpr (kFirst < kCount) {
    work(Size<kFirst>{});
    for_each_size<kCount, kFirst + 1>(work);
  }
}

// Four bytes at a time: the bits of `mask` in each, after a shift.
HWY_INLINE std::uint32_t fields(std::uint32_t word, unsigned shift, std::uint8_t mask) {
  return word >> shift & mask * 0x01010101u;
}

HWY_INLINE void store_words(const std::uint32_t (&words)[4], std::int8_t (&to)[16]) {
  for (std::size_t i = 0; i < 4; ++i) {
    store_word(words[i], to + 4 * i);
  }
}

// Two bits a number: number 32 i + j of each half is in bits 2 i of byte j of 32.
struct BlocksQ2K : BlockLayout<256, 84, 16, true> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block + 80);
    const float d_minimum = half_at(block + 82);
    std::int8_t scales[16];
    std::int8_t minimums[16];
    split_nibbles<16>(block, scales, minimums,
                      [](auto, std::size_t /*i*/, auto nibbles) HWY_ATTR { return nibbles; });
    store_scaled<16>(d, scales, to.scales, to.step);
    store_scaled<16>(d_minimum, minimums, to.minimums, to.step);
    for (std::size_t part = 0; part < 2; ++part) {
      for_each_vector_of_bytes<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto bytes = hn::LoadU(tag, block + 16 + 32 * part + j);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const auto quants = hn::And(hn::ShiftRight<2 * i()>(bytes), hn::Set(tag, 3));
          store_quants(quants, tag, to.quants + 128 * part + 32 * i() + j);
        });
      });
    }
  }
};

// As above, with a third bit for number 32 i + j in bit i of byte j of another 32.
struct BlocksQ3K : BlockLayout<256, 110, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block + 108);
    // Sixteen scales of 6 bits: nibbles, then their upper two bits.
    const auto low = word_at<std::uint32_t>(block + 96);
    const auto next = word_at<std::uint32_t>(block + 100);
    const auto upper = word_at<std::uint32_t>(block + 104);
    const std::uint32_t words[4] = {fields(low, 0, 15) | fields(upper, 0, 3) << 4,
                                    fields(next, 0, 15) | fields(upper, 2, 3) << 4,
                                    fields(low, 4, 15) | fields(upper, 4, 3) << 4,
                                    fields(next, 4, 15) | fields(upper, 6, 3) << 4};
    std::int8_t scales[16];
    store_words(words, scales);
    for (std::int8_t& scale : scales) {
      scale = static_cast<std::int8_t>(scale - 32);
    }
    store_scaled<16>(d, scales, to.scales, to.step);
    for_each_size<2>([&](auto part) HWY_ATTR {
      for_each_vector_of_bytes<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto thirds = hn::LoadU(tag, block + j);
        const auto bytes = hn::LoadU(tag, block + 32 + 32 * part() + j);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const auto low_bits = hn::And(hn::ShiftRight<2 * i()>(bytes), hn::Set(tag, 3));
          const auto bit = hn::And(hn::ShiftRight<4 * part() + i()>(thirds), hn::Set(tag, 1));
          const auto quants = hn::Sub(hn::Or(low_bits, hn::ShiftLeft<2>(bit)), hn::Set(tag, 4));
          store_quants(quants, tag, to.quants + 128 * part() + 32 * i() + j);
        });
      });
    });
  }
};

// Eight scales and eight minimums of 6 bits in 12 bytes: four of each with all their bits, then
// nibbles of the others, whose upper two bits are those that the first ones leave.
HWY_INLINE void unpack_scales_and_minimums(const std::uint8_t* block, const UnpackedBlocks& to) {
  const float d = half_at(block);
  const float d_minimum = half_at(block + 2);
  const auto first = word_at<std::uint32_t>(block + 4);
  const auto second = word_at<std::uint32_t>(block + 8);
  const auto third = word_at<std::uint32_t>(block + 12);
  const std::uint32_t words[4] = {
      fields(first, 0, 63), fields(third, 0, 15) | fields(first, 6, 3) << 4, fields(second, 0, 63),
      fields(third, 4, 15) | fields(second, 6, 3) << 4};
  std::int8_t bytes[16];
  store_words(words, bytes);
  store_scaled<8>(d, bytes, to.scales, to.step);
  store_scaled<8>(d_minimum, bytes + 8, to.minimums, to.step);
}

// Of each 64 numbers, j is in the lower nibble of byte j of 32, 32 + j in the upper one.
struct BlocksQ4K : BlockLayout<256, 144, 32, true> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    unpack_scales_and_minimums(block, to);
    for (std::size_t part = 0; part < 4; ++part) {
      std::int8_t* const quants = to.quants + 64 * part;
      split_nibbles<32>(block + 16 + 32 * part, quants, quants + 32,
                        [](auto, std::size_t /*i*/, auto nibbles) HWY_ATTR { return nibbles; });
    }
  }
};

// As above, with a fifth bit for number 32 i + j in bit i of byte j of another 32.
struct BlocksQ5K : BlockLayout<256, 176, 32, true> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    unpack_scales_and_minimums(block, to);
    for_each_vector_of_bytes<32>([&](auto tag, std::size_t j) HWY_ATTR {
      const auto fifths = hn::LoadU(tag, block + 16 + j);
      for_each_size<4>([&](auto part) HWY_ATTR {
        const auto bytes = hn::LoadU(tag, block + 48 + 32 * part() + j);
        const auto one = hn::Set(tag, 1);
        const auto low_bit = hn::And(hn::ShiftRight<2 * part()>(fifths), one);
        const auto high_bit = hn::And(hn::ShiftRight<2 * part() + 1>(fifths), one);
        const auto low = hn::And(bytes, hn::Set(tag, 15));
        const auto high = hn::ShiftRight<4>(bytes);
        std::int8_t* const quants = to.quants + 64 * part() + j;
        store_quants(hn::Or(low, hn::ShiftLeft<4>(low_bit)), tag, quants);
        store_quants(hn::Or(high, hn::ShiftLeft<4>(high_bit)), tag, quants + 32);
      });
    });
  }
};

// Of each 128 numbers, 32 i + j has its lower bits in nibbles of byte j (i even) or 32 + j (i odd),
// the lower ones first, and its upper two in bits 2 i of byte j of another 32.
struct BlocksQ6K : BlockLayout<256, 210, 16> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block + 208);
    store_scaled<16>(d, reinterpret_cast<const std::int8_t*>(block + 192), to.scales, to.step);
    for (std::size_t part = 0; part < 2; ++part) {
      for_each_vector_of_bytes<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto first = hn::LoadU(tag, block + 64 * part + j);
        const auto second = hn::LoadU(tag, block + 64 * part + 32 + j);
        const auto upper = hn::LoadU(tag, block + 128 + 32 * part + j);
        const auto nibble = hn::Set(tag, 15);
        const auto mask = hn::Set(tag, 0x30);
        std::int8_t* const quants = to.quants + 128 * part + j;
        const auto store = [&](auto low, auto high, std::size_t at) HWY_ATTR {
          const auto bits = hn::Or(low, hn::And(high, mask));
          store_quants(hn::Sub(bits, hn::Set(tag, 32)), tag, quants + at);
        };
        store(hn::And(first, nibble), hn::ShiftLeft<4>(upper), 0);
        store(hn::And(second, nibble), hn::ShiftLeft<2>(upper), 32);
        store(hn::ShiftRight<4>(first), upper, 64);
        store(hn::ShiftRight<4>(second), hn::ShiftRight<2>(upper), 96);
      });
    }
  }
};

// Groups of 32, each as a block of IQ4_NL with a scale of 6 bits.
struct BlocksIQ4XS : BlockLayout<256, 136, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    const float d = half_at(block);
    const std::uint32_t upper = word_at<std::uint16_t>(block + 2);
    const auto lower = word_at<std::uint32_t>(block + 4);
    std::int8_t scales[8];
    for (unsigned group = 0; group < 8; ++group) {
      const std::uint32_t scale = (lower >> 4 * group & 15) | (upper >> 2 * group & 3) << 4;
      scales[group] = static_cast<std::int8_t>(static_cast<int>(scale) - 32);
      std::int8_t* const quants = to.quants + std::size_t{32} * group;
      split_nibbles<16>(block + 8 + std::size_t{16} * group, quants, quants + 16,
                        NibbleTable{kIq4Values});
    }
    store_scaled<8>(d, scales, to.scales, to.step);
  }
};

// -1, 0 and 1 as digits of base 3, five a byte: a byte is a fraction of 256, and what tripling it
// carries beyond 256 is the next digit.
struct BlocksTQ10 : BlockLayout<256, 54, 32> {
  template <std::size_t kBytesAtOnce, std::size_t kDigits>
  static HWY_INLINE void unpack_digits(const std::uint8_t* from, std::int8_t* quants) {
    for_each_vector_of_bytes<kBytesAtOnce>([&](auto d, std::size_t j) HWY_ATTR {
      auto fraction = hn::LoadU(d, from + j);
      for (std::size_t digit = 0; digit < kDigits; ++digit) {
        // All bits set, -1, where a third or two thirds are reached.
        const auto one = hn::VecFromMask(d, hn::Gt(fraction, hn::Set(d, 85)));
        const auto two = hn::VecFromMask(d, hn::Gt(fraction, hn::Set(d, 170)));
        const auto quant = hn::Sub(hn::Sub(hn::Set(d, 0xFF), one), two);
        store_quants(quant, d, quants + digit * kBytesAtOnce + j);
        fraction = hn::Add(hn::Add(fraction, fraction), fraction);
      }
    });
  }
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    share_scale<BlocksTQ10>(half_at(block + 52), to);
    unpack_digits<32, 5>(block, to.quants);
    unpack_digits<16, 5>(block + 32, to.quants + 160);
    unpack_digits<4, 4>(block + 48, to.quants + 240);
  }
};

// The same with two bits a number.
struct BlocksTQ20 : BlockLayout<256, 66, 32> {
  static HWY_INLINE void unpack(const std::uint8_t* block, const UnpackedBlocks& to) {
    share_scale<BlocksTQ20>(half_at(block + 64), to);
    for (std::size_t part = 0; part < 2; ++part) {
      for_each_vector_of_bytes<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto bytes = hn::LoadU(tag, block + 32 * part + j);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const auto bits = hn::And(hn::ShiftRight<2 * i()>(bytes), hn::Set(tag, 3));
          store_quants(hn::Sub(bits, hn::Set(tag, 1)), tag, to.quants + 128 * part + 32 * i() + j);
        });
      });
    }
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
