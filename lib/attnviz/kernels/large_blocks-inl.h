// Types with 256 numbers per block, in groups of 16 or 32 with small integer scales (and minimums),
// which are multiplied by one or two half-precision factors. Included once per SIMD target.

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
#include "attnviz/kernels/block_places-inl.h"
#include "attnviz/kernels/small_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two bits per number: number 32 i + j of each half of the block is in bits 2 i of byte j of 32.
struct BlocksQ2K : BlockLayout<256, 84, 16, true> {
  static constexpr std::uint8_t kAdded = 0;
  static constexpr std::uint8_t kMost = 3;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    using Word = decltype(place.word(0));
    const Word words[4] = {place.word(0), place.word(4), place.word(8), place.word(12)};
    const Word scales[4] = {fields<0, 15>(words[0]), fields<0, 15>(words[1]),
                            fields<0, 15>(words[2]), fields<0, 15>(words[3])};
    const Word minimums[4] = {fields<4, 15>(words[0]), fields<4, 15>(words[1]),
                              fields<4, 15>(words[2]), fields<4, 15>(words[3])};
    place.template store_scales<16>(place.half(80), scales);
    place.template store_minimums<16>(place.half(82), minimums);
    for_each_size<2>([&](auto part) HWY_ATTR {
      place.template for_each_vector<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto bytes = place.load(tag, 16 + 32 * part() + j);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const auto quants = hn::And(hn::ShiftRight<2 * i()>(bytes), hn::Set(tag, 3));
          place.store(quants, tag, 128 * part() + 32 * i() + j);
        });
      });
    });
  }
};

// As above, with a third bit: for number 32 i + j, bit i of byte j of another 32.
struct BlocksQ3K : BlockLayout<256, 110, 16> {
  static constexpr std::uint8_t kAdded = 4;
  static constexpr std::uint8_t kMost = 7;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    // Sixteen scales of 6 bits: nibbles, then their upper two bits.
    using Word = decltype(place.word(0));
    const Word low = place.word(96);
    const Word next = place.word(100);
    const Word upper = place.word(104);
    const Word scales[4] = {either(fields<0, 15>(low), fields<0, 3, 4>(upper)),
                            either(fields<0, 15>(next), fields<2, 3, 4>(upper)),
                            either(fields<4, 15>(low), fields<4, 3, 4>(upper)),
                            either(fields<4, 15>(next), fields<6, 3, 4>(upper))};
    place.template store_scales<16, -32>(place.half(108), scales);
    for_each_size<2>([&](auto part) HWY_ATTR {
      place.template for_each_vector<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto thirds = place.load(tag, j);
        const auto bytes = place.load(tag, 32 + 32 * part() + j);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const auto low_bits = hn::And(hn::ShiftRight<2 * i()>(bytes), hn::Set(tag, 3));
          const auto bit = hn::And(hn::ShiftRight<4 * part() + i()>(thirds), hn::Set(tag, 1));
          const auto quants = hn::Sub(hn::Or(low_bits, hn::ShiftLeft<2>(bit)), hn::Set(tag, 4));
          place.store(quants, tag, 128 * part() + 32 * i() + j);
        });
      });
    });
  }
};

// Eight scales and eight minimums of 6 bits in 12 bytes: four of each with all their bits, then
// nibbles of the others, whose upper two bits are in the unused bits of the first ones.
template <class Place>
HWY_INLINE void unpack_scales_and_minimums(const Place& place) {
  using Word = decltype(place.word(0));
  const Word first = place.word(4);
  const Word second = place.word(8);
  const Word third = place.word(12);
  const Word scales[2] = {fields<0, 63>(first),
                          either(fields<0, 15>(third), fields<6, 3, 4>(first))};
  const Word minimums[2] = {fields<0, 63>(second),
                            either(fields<4, 15>(third), fields<6, 3, 4>(second))};
  place.template store_scales<8>(place.half(0), scales);
  place.template store_minimums<8>(place.half(2), minimums);
}

// In each 64 numbers, j is in the lower nibble of byte j of 32, 32 + j in the upper one.
struct BlocksQ4K : BlockLayout<256, 144, 32, true> {
  static constexpr std::uint8_t kAdded = 0;
  static constexpr std::uint8_t kMost = 15;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    unpack_scales_and_minimums(place);
    for (std::size_t part = 0; part < 4; ++part) {
      split_nibbles<32>(place, 16 + 32 * part, 64 * part, 64 * part + 32,
                        [](auto, std::size_t /*i*/, auto nibbles) HWY_ATTR { return nibbles; });
    }
  }
};

// Shifts bytes so that bit kFrom becomes bit kTo.
template <int kFrom, int kTo, class V>
HWY_INLINE V moved(V bytes) {
  if constexpr (kFrom > kTo) {
    return hn::ShiftRight<kFrom - kTo>(bytes);
  } else {
    return hn::ShiftLeft<kTo - kFrom>(bytes);
  }
}

// As above, with a fifth bit: for number 32 i + j, bit i of byte j of another 32.
struct BlocksQ5K : BlockLayout<256, 176, 32, true> {
  static constexpr std::uint8_t kAdded = 0;
  static constexpr std::uint8_t kMost = 31;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    unpack_scales_and_minimums(place);
    place.template for_each_vector<32>([&](auto tag, std::size_t j) HWY_ATTR {
      const auto fifths = place.load(tag, 16 + j);
      for_each_size<4>([&](auto part) HWY_ATTR {
        const auto bytes = place.load(tag, 48 + 32 * part() + j);
        const auto low_bit = hn::And(moved<2 * part(), 4>(fifths), hn::Set(tag, 16));
        const auto high_bit = hn::And(moved<2 * part() + 1, 4>(fifths), hn::Set(tag, 16));
        const auto low = hn::And(bytes, hn::Set(tag, 15));
        const auto high = hn::ShiftRight<4>(bytes);
        place.store(hn::Or(low, low_bit), tag, 64 * part() + j);
        place.store(hn::Or(high, high_bit), tag, 64 * part() + 32 + j);
      });
    });
  }
};

// In each 128 numbers, 32 i + j has its lower bits in a nibble of byte j (i even) or 32 + j (i
// odd), lower nibbles first, and its upper two in bits 2 i of byte j of another 32.
struct BlocksQ6K : BlockLayout<256, 210, 16> {
  static constexpr std::uint8_t kAdded = 32;
  static constexpr std::uint8_t kMost = 63;

  template <class V>
  struct Quants {
    V low;
    V high;
  };
  // Unpacks byte 32 kSecond + j of nibbles and byte j of upper bits into numbers 32 kSecond + j and
  // 64 + 32 kSecond + j, with 32 added.
  template <int kSecond, class D, class V = hn::Vec<D>>
  static HWY_INLINE Quants<V> quants(D d, V nibbles, V upper) {
    const V mask = hn::Set(d, 0x30);
    const V low = hn::And(nibbles, hn::Set(d, 15));
    const V high = hn::ShiftRight<4>(nibbles);
    // Not OrAnd(): compilers do not merge its mask with the one of a shift of bytes.
    if constexpr (kSecond == 0) {
      return {hn::Or(low, hn::And(hn::ShiftLeft<4>(upper), mask)),
              hn::Or(high, hn::And(upper, mask))};
    } else {
      return {hn::Or(low, hn::And(hn::ShiftLeft<2>(upper), mask)),
              hn::Or(high, hn::And(hn::ShiftRight<2>(upper), mask))};
    }
  }
  template <class Place>
  static HWY_INLINE void unpack_scales(const Place& place) {
    using Word = decltype(place.word(0));
    const Word scales[4] = {place.word(192), place.word(196), place.word(200), place.word(204)};
    place.template store_scales<16>(place.half(208), scales);
  }
  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    unpack_scales(place);
    for (std::size_t part = 0; part < 2; ++part) {
      place.template for_each_vector<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto upper = place.load(tag, 128 + 32 * part + j);
        for_each_size<2>([&](auto second) HWY_ATTR {
          const std::size_t at = 32 * second() + j;
          const auto found = quants<second()>(tag, place.load(tag, 64 * part + at), upper);
          const auto bias = hn::Set(tag, 32);
          place.store(hn::Sub(found.low, bias), tag, 128 * part + at);
          place.store(hn::Sub(found.high, bias), tag, 128 * part + 64 + at);
        });
      });
    }
  }
};

// Groups of 32, each like a block of IQ4_NL with a scale of 6 bits.
struct BlocksIQ4XS : BlockLayout<256, 136, 32> {
  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    using Word = decltype(place.word(0));
    const Word upper = place.word(0);  // upper half: two bits per group
    const Word lower = place.word(4);  // four bits per group
    const Word scales[2] = {either(spread<0, 4, 15, 0>(lower), spread<16, 2, 3, 4>(upper)),
                            either(spread<16, 4, 15, 0>(lower), spread<24, 2, 3, 4>(upper))};
    place.template store_scales<8, -32>(place.half(0), scales);
    for (std::size_t group = 0; group < 8; ++group) {
      split_nibbles<16>(place, 8 + 16 * group, 32 * group, 32 * group + 16,
                        NibbleTable{kIq4Values});
    }
  }
};

// -1, 0 and 1 as digits of base 3, five per byte: a byte is a fraction of 256, and the carry when
// it is tripled is the next digit.
struct BlocksTQ10 : BlockLayout<256, 54, 32> {
  static constexpr std::uint8_t kAdded = 1;
  static constexpr std::uint8_t kMost = 2;

  template <std::size_t kBytesAtOnce, std::size_t kDigits, class Place>
  static HWY_INLINE void unpack_digits(const Place& place, std::size_t from, std::size_t to) {
    place.template for_each_vector<kBytesAtOnce>([&](auto d, std::size_t j) HWY_ATTR {
      auto fraction = place.load(d, from + j);
      for (std::size_t digit = 0; digit < kDigits; ++digit) {
        // Masks have all bits set, -1, where the fraction reaches one or two thirds.
        const auto one = hn::VecFromMask(d, hn::Gt(fraction, hn::Set(d, 85)));
        const auto two = hn::VecFromMask(d, hn::Gt(fraction, hn::Set(d, 170)));
        const auto quant = hn::Sub(hn::Sub(hn::Set(d, 0xFF), one), two);
        place.store(quant, d, to + digit * kBytesAtOnce + j);
        fraction = hn::Add(hn::Add(fraction, fraction), fraction);
      }
    });
  }
  template <class Place>
  requires(!Place::kTakesWholeGroups) static HWY_INLINE void unpack(const Place& place) {
    share_scale<8>(place, place.half(52));
    unpack_digits<32, 5>(place, 0, 0);
    unpack_digits<16, 5>(place, 32, 160);
    unpack_digits<4, 4>(place, 48, 240);
  }
};

// The same with two bits per number.
struct BlocksTQ20 : BlockLayout<256, 66, 32> {
  static constexpr std::uint8_t kAdded = 1;
  static constexpr std::uint8_t kMost = 3;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    share_scale<8>(place, place.half(64));
    for (std::size_t part = 0; part < 2; ++part) {
      place.template for_each_vector<32>([&](auto tag, std::size_t j) HWY_ATTR {
        const auto bytes = place.load(tag, 32 * part + j);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const auto bits = hn::And(hn::ShiftRight<2 * i()>(bytes), hn::Set(tag, 3));
          place.store(hn::Sub(bits, hn::Set(tag, 1)), tag, 128 * part + 32 * i() + j);
        });
      });
    }
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
