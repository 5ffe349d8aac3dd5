// Where blocks are read from, and where their unpacked numbers go: one block at a time, or sixteen
// side by side. Block types are written for both. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_BLOCK_PLACES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_BLOCK_PLACES_INL_H_
#undef ATTNVIZ_KERNELS_BLOCK_PLACES_INL_H_
#else
#define ATTNVIZ_KERNELS_BLOCK_PLACES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "attnviz/kernels/block_bits-inl.h"
#include "attnviz/kernels/tile-inl.h"
#include "attnviz/kernels/unpack.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls work(Size<0>), work(Size<1>), …: shift counts must be compile-time constants.
template <std::size_t kCount, std::size_t kFirst = 0, class Work>
HWY_INLINE void for_each_size(const Work& work) {
  if constexpr (kFirst < kCount) {
    work(Size<kFirst>{});
    for_each_size<kCount, kFirst + 1>(work);
  }
}

// Extracts a field from each of the four bytes: the bits of `kMask`, after shifts to the right and
// to the left.
template <int kRight, std::uint8_t kMask, int kLeft = 0>
HWY_INLINE std::uint32_t fields(std::uint32_t word) {
  return (word >> kRight & kMask * 0x01010101u) << kLeft;
}

// Spreads four consecutive fields of kBits, from bit kFirst on, over four bytes, shifted to the
// left.
template <int kFirst, int kBits, std::uint32_t kMask, int kLeft>
HWY_INLINE std::uint32_t spread(std::uint32_t word) {
  std::uint32_t all = 0;
  for (int i = 0; i < 4; ++i) {
    all |= (word >> (kFirst + kBits * i) & kMask) << (kLeft + 8 * i);
  }
  return all;
}

HWY_INLINE std::uint32_t either(std::uint32_t a, std::uint32_t b) {
  return a | b;
}
HWY_INLINE float negative(float value) {
  return -value;
}

// Returns 2^(exponent - 128), for exponents below 256.
HWY_INLINE float half_of_power(std::uint32_t exponent) {
  return std::bit_cast<float>(exponent < 2 ? std::uint32_t{0x00200000} << exponent
                                           : (exponent - 1) << 23);
}

// One block as it is stored. Vectors contain consecutive bytes.
class OneBlock {
 public:
  static constexpr bool kTakesWholeGroups = false;

  OneBlock(const std::uint8_t* block, const UnpackedBlocks& to) : block_(block), to_(to) {}

  // Calls work(tag, i) for every vector of kCount bytes; byte i is its first.
  template <std::size_t kCount, class Work>
  static HWY_INLINE void for_each_vector(const Work& work) {
    const hn::CappedTag<std::uint8_t, kCount> d;
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kCount; i += hn::Lanes(d)) {
      work(d, i);
    }
  }
  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, std::size_t offset) const {
    return hn::LoadU(d, block_ + offset);
  }
  // 16 where a bit is set, else 0, from bit i of the word at `offset` on.
  template <class D>
  HWY_INLINE hn::Vec<D> sixteen_where_set(D d, std::size_t offset, std::size_t i) const {
    const std::uint8_t* const bits = block_ + offset;
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, static_cast<std::uint8_t>((bits[i / 8] >> i % 8 & 1) << 4));
#else
    return hn::IfThenElseZero(hn::LoadMaskBits(d, bits + i / 8), hn::Set(d, 16));
#endif
  }
  // Stores quants as signed bytes, from number `at` of the block on.
  template <class D>
  HWY_INLINE void store(hn::Vec<D> quants, D d, std::size_t at) const {
    hn::StoreU(quants, d, reinterpret_cast<std::uint8_t*>(to_.quants + at));
  }

  HWY_INLINE float half(std::size_t offset) const {
    return half_at(block_ + offset);
  }
  HWY_INLINE std::uint32_t word(std::size_t offset) const {
    return word_at<std::uint32_t>(block_ + offset);
  }
  HWY_INLINE std::uint32_t byte(std::size_t offset) const {
    return block_[offset];
  }

  HWY_INLINE void store_scale(float scale, std::size_t group) const {
    to_.scales[group * to_.step] = scale;
  }
  HWY_INLINE void store_minimum(float minimum, std::size_t group) const {
    to_.minimums[group * to_.step] = minimum;
  }
  // Stores the scales of all groups: factor * (integer + bias), where the integers are signed
  // bytes.
  template <std::size_t kCount, std::int8_t kBias = 0>
  HWY_INLINE void store_scales(float factor, const std::uint32_t* integers) const {
    store_scaled<kCount, kBias>(factor, integers, to_.scales);
  }
  template <std::size_t kCount>
  HWY_INLINE void store_minimums(float factor, const std::uint32_t* integers) const {
    store_scaled<kCount, 0>(factor, integers, to_.minimums);
  }

 private:
  template <std::size_t kCount, std::int8_t kBias>
  HWY_INLINE void store_scaled(float factor, const std::uint32_t* integers, float* to) const {
    const hn::CappedTag<float, HWY_MIN(kCount, 16)> d;
    const hn::RebindToSigned<decltype(d)> words;
    const hn::Rebind<std::int8_t, decltype(d)> bytes;
    std::int8_t all[kCount];
    for (std::size_t i = 0; i < kCount; i += 4) {
      store_word(integers[i / 4], all + i);
    }
    HWY_ALIGN float scaled[kCount];
    for (std::size_t i = 0; i < kCount; i += hn::Lanes(d)) {
      const auto integer =
          hn::Add(hn::PromoteTo(words, hn::LoadU(bytes, all + i)), hn::Set(words, kBias));
      hn::Store(hn::Mul(hn::ConvertTo(d, integer), hn::Set(d, factor)), d, scaled + i);
    }
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kCount; ++i) {
      to[i * to_.step] = scaled[i];
    }
  }

  const std::uint8_t* block_;
  const UnpackedBlocks& to_;
};

// Each of kCount bytes from `offset` on holds two quants: the lower nibbles go to `low`, the upper
// ones to `high`, both mapped by map(tag, i, nibbles).
template <std::size_t kCount, class Place, class Map>
HWY_INLINE void split_nibbles(const Place& place, std::size_t offset, std::size_t low,
                              std::size_t high, const Map& map) {
  if constexpr (kCount == 16 && Place::kTakesWholeGroups) {
    return place.store_nibbles(offset, low, map);
  } else {
    place.template for_each_vector<kCount>([&](auto d, std::size_t i) HWY_ATTR {
      const auto bytes = place.load(d, offset + i);
      place.store(map(d, i, hn::And(bytes, hn::Set(d, 15))), d, low + i);
      place.store(map(d, 16 + i, hn::ShiftRight<4>(bytes)), d, high + i);
    });
  }
}

// Stores one scale for all groups of a block.
template <std::size_t kCount, class Place, class Scale>
HWY_INLINE void share_scale(const Place& place, Scale scale) {
  for (std::size_t group = 0; group < kCount; ++group) {
    place.store_scale(scale, group);
  }
}

// A table of sixteen bytes, indexed by nibbles.
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

#undef ATTNVIZ_HAS_BLOCK_LANES
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
#define ATTNVIZ_HAS_BLOCK_LANES 1

// Four consecutive bytes of each of sixteen blocks.
using LaneWords = hn::Vec<hn::FixedTag<std::uint32_t, kBlockLanes>>;
using LaneFloats = hn::Vec<hn::FixedTag<float, kBlockLanes>>;

template <int kRight, std::uint8_t kMask, int kLeft = 0>
HWY_INLINE LaneWords fields(LaneWords words) {
  const hn::FixedTag<std::uint32_t, kBlockLanes> d;
  return hn::ShiftLeft<kLeft>(
      hn::And(hn::ShiftRight<kRight>(words), hn::Set(d, kMask * 0x01010101u)));
}

template <int kFirst, int kBits, std::uint32_t kMask, int kLeft>
HWY_INLINE LaneWords spread(LaneWords words) {
  const hn::FixedTag<std::uint32_t, kBlockLanes> d;
  LaneWords all = hn::Zero(d);
  for_each_size<4>([&](auto i) HWY_ATTR {
    const auto field = hn::And(hn::ShiftRight<kFirst + kBits * i()>(words), hn::Set(d, kMask));
    all = hn::Or(all, hn::ShiftLeft<kLeft + 8 * i()>(field));
  });
  return all;
}

HWY_INLINE LaneWords either(LaneWords a, LaneWords b) {
  return hn::Or(a, b);
}
HWY_INLINE LaneFloats negative(LaneFloats values) {
  return hn::Neg(values);
}
HWY_INLINE LaneFloats half_of_power(LaneWords exponents) {
  const hn::FixedTag<std::uint32_t, kBlockLanes> d;
  const hn::FixedTag<float, kBlockLanes> floats;
  const auto normal = hn::ShiftLeft<23>(hn::Sub(exponents, hn::Set(d, 1)));
  const auto small = hn::ShiftLeft<21>(hn::Add(exponents, hn::Set(d, 1)));
  return hn::BitCast(floats, hn::IfThenElse(hn::Lt(exponents, hn::Set(d, 2)), small, normal));
}

// Prefetches line by line, at each line's last byte: the first line is the last one of the previous
// call.
template <std::size_t kBytes>
HWY_INLINE void prefetch(const std::uint8_t* from) {
  for (std::size_t i = 0; i < kBytes; i += 64) {
    hwy::Prefetch(from + HWY_MIN(i + 63, kBytes - 1));
  }
}

// Four words of each of sixteen blocks; each vector holds one word of every block.
struct LaneQuad {
  LaneWords words[4];
};

// Transposes 4 x 4 words in each 128 bits of four vectors: first words, second ones, third ones,
// last ones.
HWY_INLINE LaneQuad transposed(LaneWords first, LaneWords second, LaneWords third,
                               LaneWords fourth) {
  const hn::FixedTag<std::uint32_t, kBlockLanes> d;
  const hn::FixedTag<std::uint64_t, kBlockLanes / 2> pairs;
  const auto low = hn::BitCast(pairs, hn::InterleaveLower(d, first, second));
  const auto high = hn::BitCast(pairs, hn::InterleaveUpper(d, first, second));
  const auto next_low = hn::BitCast(pairs, hn::InterleaveLower(d, third, fourth));
  const auto next_high = hn::BitCast(pairs, hn::InterleaveUpper(d, third, fourth));
  return {{hn::BitCast(d, hn::InterleaveLower(pairs, low, next_low)),
           hn::BitCast(d, hn::InterleaveUpper(pairs, low, next_low)),
           hn::BitCast(d, hn::InterleaveLower(pairs, high, next_high)),
           hn::BitCast(d, hn::InterleaveUpper(pairs, high, next_high))}};
}

// Transposes sixteen bytes of blocks that lie `stride` bytes apart. By intrinsics, since Combine()
// clears what it then overwrites; by halves, which is faster where 64-byte vectors are processed in
// two steps.
HWY_INLINE LaneQuad transposed_quad(const std::uint8_t* blocks, std::size_t stride) {
  // Loads blocks i, i + 4, i + 8 and i + 12.
  const auto four = [&](std::size_t i) HWY_ATTR {
    const auto load = [&](std::size_t block) HWY_ATTR {
      const std::uint8_t* const from = blocks + block * stride + i * stride;
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const auto two = [&](std::size_t block) HWY_ATTR {
      return _mm256_inserti128_si256(_mm256_castsi128_si256(load(block)), load(block + 4), 1);
    };
    return LaneWords{_mm512_inserti64x4(_mm512_castsi256_si512(two(0)), two(8), 1)};
  };
  return transposed(four(0), four(1), four(2), four(3));
}

// Stores the quants of sixteen blocks, kNumbers each.
template <std::size_t kNumbers>
void store_words_of_quants(const std::int8_t* quants, const LaneBlocks& to) {
  const hn::FixedTag<std::uint32_t, kBlockLanes> d;
  for (std::size_t i = 0; i < kNumbers; i += 16) {
    const LaneQuad quad =
        transposed_quad(reinterpret_cast<const std::uint8_t*>(quants + i), kNumbers);
    for_each_size<4>([&](auto word) HWY_ATTR {
      hn::Store(hn::Xor(quad.words[word()], hn::Set(d, 0x80808080u)), d,
                to.words + (i / 4 + word()) * kLaneStep);
    });
  }
}

// Returns byte kByte of each word times 2^24.
template <int kByte>
HWY_INLINE hn::Vec<hn::FixedTag<std::int32_t, kBlockLanes>> upper_bytes(LaneWords words) {
  const hn::FixedTag<std::int32_t, kBlockLanes> d;
  const hn::FixedTag<std::uint8_t, 4 * kBlockLanes> bytes;
  constexpr std::uint8_t kNone = 0x80;
  alignas(16) static constexpr std::uint8_t kPlaces[16] = {
      kNone, kNone, kNone, kByte,     kNone, kNone, kNone, 4 + kByte,
      kNone, kNone, kNone, 8 + kByte, kNone, kNone, kNone, 12 + kByte};
  return hn::BitCast(
      d, hn::TableLookupBytesOr0(hn::BitCast(bytes, words), hn::LoadDup128(bytes, kPlaces)));
}

// Stores the scales of sixteen blocks.
class LaneScales {
 public:
  explicit HWY_INLINE LaneScales(const LaneBlocks& to) : to_(to) {}

  HWY_INLINE void store_scale(LaneFloats scales, std::size_t group) const {
    hn::Store(scales, hn::FixedTag<float, kBlockLanes>(), to_.scales + group * kLaneStep);
  }
  HWY_INLINE void store_minimum(LaneFloats minimums, std::size_t group) const {
    hn::Store(minimums, hn::FixedTag<float, kBlockLanes>(), to_.minimums + group * kLaneStep);
  }
  template <std::size_t kCount, std::int8_t kBias = 0>
  HWY_INLINE void store_scales(LaneFloats factor, const LaneWords* integers) const {
    store_scaled<kCount, kBias>(factor, integers, to_.scales);
  }
  template <std::size_t kCount>
  HWY_INLINE void store_minimums(LaneFloats factor, const LaneWords* integers) const {
    store_scaled<kCount, 0>(factor, integers, to_.minimums);
  }

 protected:
  const LaneBlocks& to_;

 private:
  template <std::size_t kCount, std::int8_t kBias>
  HWY_INLINE void store_scaled(LaneFloats factor, const LaneWords* integers, float* to) const {
    const hn::FixedTag<float, kBlockLanes> d;
    const hn::RebindToSigned<decltype(d)> words;
    // The integer is in the upper byte of a word, which keeps its sign.
    const auto per_upper = hn::Mul(factor, hn::Set(d, 0x1p-24f));
    for_each_size<kCount>([&](auto i) HWY_ATTR {
      const auto upper = upper_bytes<i() % 4>(integers[i() / 4]);
      const auto biased = kBias == 0 ? upper : hn::Add(upper, hn::Set(words, kBias * (1 << 24)));
      hn::Store(hn::Mul(hn::ConvertTo(d, biased), per_upper), d, to + i() * kLaneStep);
    });
  }
};

// Converts the half-precision number at byte 0 or 2 of each word.
HWY_INLINE LaneFloats half_of(LaneWords words, bool is_second) {
  const hn::FixedTag<float, kBlockLanes> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> halves;
  const hn::Rebind<std::uint16_t, decltype(d)> shorts;
  const auto shifted = is_second ? hn::ShiftRight<16>(words) : words;
  return hn::PromoteTo(d, hn::BitCast(halves, hn::TruncateTo(shorts, shifted)));
}

// Sixteen blocks. Vectors contain four bytes of each. Data at word positions is transposed first,
// with four more words for unaligned data.
template <class Blocks>
class BlockLanes : public LaneScales {
 public:
  static constexpr bool kTakesWholeGroups = false;

  BlockLanes(const BlocksApart& from, const LaneBlocks& to) : LaneScales(to) {
    const auto transpose = [&](std::size_t offset, std::size_t word) HWY_ATTR {
      const hn::FixedTag<std::uint32_t, kBlockLanes> d;
      const LaneQuad quad = transposed_quad(from.blocks + offset, from.stride);
      for_each_size<4>([&](auto i) HWY_ATTR {
        hn::Store(quad.words[i()], d, words_ + (word + i()) * kBlockLanes);
      });
    };
    std::size_t n_asked = 0;
    for (std::size_t word = 0; word < kWords; word += 4) {
      for (; n_asked * kWords < (word + 4) * kBlockLanes && n_asked < kBlockLanes; ++n_asked) {
        prefetch<Blocks::kBytes>(from.later + n_asked * from.later_stride);
      }
      const std::size_t first = HWY_MIN(word, kWords - 4);
      transpose(kFirst + 4 * first, first);
    }
    if (kOdd != kFirst) {
      transpose(kOdd, kWords);
    }
  }

  template <std::size_t kCount, class Work>
  static HWY_INLINE void for_each_vector(const Work& work) {
    const hn::FixedTag<std::uint8_t, 4 * kBlockLanes> d;
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < kCount; i += 4) {
      work(d, i);
    }
  }
  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, std::size_t offset) const {
    return hn::BitCast(d, word(offset));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> sixteen_where_set(D d, std::size_t offset, std::size_t i) const {
    // Four bits that begin at the middle or the start of a byte.
    const hn::RepartitionToWide<hn::RepartitionToWide<D>> wide;
    const auto bytes = hn::TableLookupBytes(
        load(d, offset), hn::BitCast(d, hn::Add(hn::BitCast(wide, hn::LoadDup128(d, kWordOfByte)),
                                                hn::Set(wide, i / 8 * 0x01010101u))));
    const auto bits = hn::BitCast(d, hn::Set(wide, i % 8 == 0 ? 0x08040201u : 0x80402010u));
    return hn::IfThenElseZero(hn::TestBit(bytes, bits), hn::Set(d, 16));
  }
  template <class D>
  HWY_INLINE void store(hn::Vec<D> quants, D d, std::size_t at) const {
    hn::Store(hn::Xor(quants, hn::Set(d, 128)), d,
              reinterpret_cast<std::uint8_t*>(to_.words + at / 4 * kLaneStep));
  }

  HWY_INLINE LaneFloats half(std::size_t offset) const {
    const bool is_aligned = offset >= kFirst && offset < kEnd;
    const std::size_t at = is_aligned ? offset - kFirst : offset - kOdd;
    return half_of(at_word(at / 4 + (is_aligned ? 0 : kWords)), at % 4 != 0);
  }
  HWY_INLINE LaneWords word(std::size_t offset) const { return at_word((offset - kFirst) / 4); }
  HWY_INLINE LaneWords byte(std::size_t offset) const {
    const hn::FixedTag<std::uint32_t, kBlockLanes> d;
    return hn::And(at_word((offset - kOdd) / 4 + kWords), hn::Set(d, 255));
  }

 private:
  alignas(16) static constexpr std::uint8_t kWordOfByte[16] = {0, 0, 0, 0, 4,  4,  4,  4,
                                                               8, 8, 8, 8, 12, 12, 12, 12};

  HWY_INLINE LaneWords at_word(std::size_t i) const {
    return hn::Load(hn::FixedTag<std::uint32_t, kBlockLanes>(), words_ + i * kBlockLanes);
  }
  static constexpr std::size_t kFirst = Blocks::kAligned;
  static constexpr std::size_t kWords = (Blocks::kBytes - kFirst) / 4;
  static constexpr std::size_t kEnd = kFirst + 4 * kWords;
  static constexpr std::size_t kOdd = kFirst > 0              ? 0
                                      : kEnd < Blocks::kBytes ? Blocks::kBytes - 16
                                                              : kFirst;  // none

  HWY_ALIGN std::uint32_t words_[(kWords + 4) * kBlockLanes];
};

#endif

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
