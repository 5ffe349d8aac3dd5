// Types with 32 numbers per block: a scale of 16 bits (MXFP4: 8), then nibbles or bytes. Included
// once per SIMD target.

#if defined(ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_
#undef ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_
#else
#define ATTNVIZ_KERNELS_SMALL_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "attnviz/kernels/block_bits-inl.h"
#include "attnviz/kernels/block_places-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Number j is in the lower nibble of byte j, number 16 + j in the upper one.
struct BlocksQ40 : BlockLayout<32, 18, 32, false, 2> {
  static constexpr std::uint8_t kAdded = 8;
  static constexpr std::uint8_t kMost = 15;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(place.half(0), 0);
    split_nibbles<16>(place, 2, 0, 16, [](auto d, std::size_t /*i*/, auto nibbles) HWY_ATTR {
      return hn::Sub(nibbles, hn::Set(d, 8));
    });
  }
};

// A scale, and an offset that is added.
struct BlocksQ41 : BlockLayout<32, 20, 32, true> {
  static constexpr std::uint8_t kAdded = 0;
  static constexpr std::uint8_t kMost = 15;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(place.half(0), 0);
    place.store_minimum(negative(place.half(2)), 0);
    split_nibbles<16>(place, 4, 0, 16,
                      [](auto, std::size_t /*i*/, auto nibbles) HWY_ATTR { return nibbles; });
  }
};

// The fifth bits of all numbers are 32 bits before the nibbles.
struct BlocksQ50 : BlockLayout<32, 22, 32, false, 2> {
  static constexpr std::uint8_t kAdded = 16;
  static constexpr std::uint8_t kMost = 31;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(place.half(0), 0);
    split_nibbles<16>(place, 6, 0, 16, [&](auto d, std::size_t i, auto nibbles) HWY_ATTR {
      return hn::Sub(hn::Or(nibbles, place.sixteen_where_set(d, 2, i)), hn::Set(d, 16));
    });
  }
};

struct BlocksQ51 : BlockLayout<32, 24, 32, true> {
  static constexpr std::uint8_t kAdded = 0;
  static constexpr std::uint8_t kMost = 31;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(place.half(0), 0);
    place.store_minimum(negative(place.half(2)), 0);
    split_nibbles<16>(place, 8, 0, 16, [&](auto d, std::size_t i, auto nibbles) HWY_ATTR {
      return hn::Or(nibbles, place.sixteen_where_set(d, 4, i));
    });
  }
};

struct BlocksQ80 : BlockLayout<32, 34, 32, false, 2> {
  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(place.half(0), 0);
    place.template for_each_vector<32>([&](auto d, std::size_t i)
                                           HWY_ATTR { place.store(place.load(d, 2 + i), d, i); });
  }
};

// Sixteen values, more closely spaced around 0.
alignas(16) constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                    1,    13,   25,  38,  53,  69,  89,  113};

struct BlocksIQ4NL : BlockLayout<32, 18, 32, false, 2> {
  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(place.half(0), 0);
    split_nibbles<16>(place, 2, 0, 16, NibbleTable{kIq4Values});
  }
};

// 4-bit floating-point numbers (sign, exponent of 2, fraction of 1), doubled to be integers.
alignas(16) constexpr std::int8_t kFp4Values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                    0, -1, -2, -3, -4, -6, -8, -12};

struct BlocksMXFP4 : BlockLayout<32, 17, 32, false, 1> {
  static constexpr std::uint8_t kAdded = 12;
  static constexpr std::uint8_t kMost = 24;

  template <class Place>
  static HWY_INLINE void unpack(const Place& place) {
    place.store_scale(half_of_power(place.byte(0)), 0);  // halved, as quants are doubled
    split_nibbles<16>(place, 1, 0, 16, NibbleTable{kFp4Values});
  }
};

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
