// One row of activations times quantised weights as they are stored, as integers: columns are read
// from end to end, and nothing is laid side by side. Included once per SIMD target.

#if defined(ATTNVIZ_KERNELS_BLOCK_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNVIZ_KERNELS_BLOCK_DOTS_INL_H_
#undef ATTNVIZ_KERNELS_BLOCK_DOTS_INL_H_
#else
#define ATTNVIZ_KERNELS_BLOCK_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "attnviz/kernels/block_places-inl.h"
#include "attnviz/kernels/tile-inl.h"
#include "attnviz/kernels/unpack.h"

#undef ATTNVIZ_HAS_BLOCK_DOTS
#if HWY_TARGET == HWY_AVX2
#define ATTNVIZ_HAS_BLOCK_DOTS 1

// GCC would leave larger ones calls, with their sums in memory.
#undef ATTNVIZ_INLINE_LAMBDA
#define ATTNVIZ_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DotLanes = hn::FixedTag<float, 8>;

// Sums over a column, each in any lanes.
struct ColumnSums {
  HWY_INLINE ColumnSums()
      : products(hn::Zero(DotLanes())), minimums(hn::Zero(DotLanes())), minimum(0.0f) {}

  HWY_INLINE void add(const ColumnSums& others) {
    products = hn::Add(products, others.products);
    minimums = hn::Add(minimums, others.minimums);
    minimum += others.minimum;
  }
  hn::Vec<DotLanes> products;
  hn::Vec<DotLanes> minimums;  // times activations
  float minimum;
};

// Whether quants, made unsigned, are multiplied as bytes by three digits of 8 bits: sums of two
// such products fit 16 bits. Others are multiplied as words by two digits of 12 bits.
template <class Blocks>
constexpr bool kMultipliesBytes = Blocks::kMost < 128;

// One block, whose quants are multiplied by activations instead of being stored. What is added to
// make quants unsigned is taken from the sums like a minimum.
template <class Blocks>
class BlockDot : public OneBlock {
 public:
  static constexpr bool kTakesWholeGroups = true;
  static constexpr bool kHasOffset = kMultipliesBytes<Blocks> && Blocks::kAdded > 0;

  // Returns a column's sum.
  static HWY_INLINE float total(const ColumnSums& sums) {
    constexpr float kProducts = kMultipliesBytes<Blocks> ? 1.0f : 0x1p-8f;  // upper bytes of words
    constexpr float kMinimums = kHasOffset ? float{Blocks::kAdded} : 1.0f;
    const DotLanes d;
    const auto lanes = hn::Sub(hn::Mul(sums.products, hn::Set(d, kProducts)),
                               hn::Mul(sums.minimums, hn::Set(d, kMinimums)));
    return hn::GetLane(hn::SumOfLanes(d, lanes)) - kMinimums * sums.minimum;
  }

  HWY_INLINE BlockDot(const std::uint8_t* block, const IntegerRow& x, ColumnSums& sums)
      : OneBlock(block, kNowhere), x_(x), sums_(sums) {}

  // Multiplies 32 quants.
  template <class D>
  HWY_INLINE void store(hn::Vec<D> quants, D d, std::size_t at) const {
    static_assert(hn::MaxLanes(D()) == 32);
    const auto* const digits = reinterpret_cast<const __m256i*>(x_.digits + 4 * at);
    __m256i high;
    __m256i low;
    if constexpr (kMultipliesBytes<Blocks>) {
      const __m256i bytes = hn::Add(quants, hn::Set(d, Blocks::kAdded)).raw;
      const __m256i ones = _mm256_set1_epi16(1);
      const __m256i first = _mm256_maddubs_epi16(bytes, _mm256_load_si256(digits));
      const __m256i second = _mm256_maddubs_epi16(bytes, _mm256_load_si256(digits + 1));
      const __m256i third = _mm256_maddubs_epi16(bytes, _mm256_load_si256(digits + 2));
      high = _mm256_add_epi32(_mm256_madd_epi16(first, _mm256_set1_epi16(256)),
                              _mm256_madd_epi16(second, ones));
      low = _mm256_madd_epi16(third, ones);
    } else {
      // As the upper bytes of words, none has to be extended. A product is below 2^26, and the sum
      // of four fits.
      const __m256i even = _mm256_slli_epi16(quants.raw, 8);
      const __m256i odd = _mm256_and_si256(quants.raw, _mm256_set1_epi16(-256));
      high = _mm256_add_epi32(_mm256_madd_epi16(even, _mm256_load_si256(digits)),
                              _mm256_madd_epi16(odd, _mm256_load_si256(digits + 1)));
      low = _mm256_add_epi32(_mm256_madd_epi16(even, _mm256_load_si256(digits + 2)),
                             _mm256_madd_epi16(odd, _mm256_load_si256(digits + 3)));
    }
    const __m256 unit_of_high = _mm256_set1_ps(kMultipliesBytes<Blocks> ? 256.0f : 4096.0f);
    const __m256 dot =
        _mm256_fmadd_ps(_mm256_cvtepi32_ps(high), unit_of_high, _mm256_cvtepi32_ps(low));
    sums_.products.raw = _mm256_fmadd_ps(dot, factor(at / kGroup), sums_.products.raw);
  }

  // Multiplies a group whose first half is in the lower nibbles of 16 bytes.
  template <class Map>
  HWY_INLINE void store_nibbles(std::size_t offset, std::size_t at, const Map& map) const {
    const hn::FixedTag<std::uint8_t, 32> d;
    const hn::Half<decltype(d)> half;
    const hn::Repartition<std::uint16_t, decltype(half)> words;
    const auto bytes = load(half, offset);
    const auto upper = hn::BitCast(half, hn::ShiftRight<4>(hn::BitCast(words, bytes)));
    store(map(d, 0, hn::And(hn::Combine(d, upper, bytes), hn::Set(d, 15))), d, at);
  }

  HWY_INLINE void store_scale(float scale, std::size_t group) const {
    const float factor = scale * x_.units[group];
    factors_[group / 4 * 8 + group % 4] = factor;
    factors_[group / 4 * 8 + group % 4 + 4] = factor;
    if constexpr (kHasOffset) {
      store_minimum(scale, group);
    }
  }
  HWY_INLINE void store_minimum(float minimum, std::size_t group) const {
    sums_.minimum += minimum * x_.sums[group];
  }
  template <std::size_t kCount, std::int8_t kBias = 0>
  HWY_INLINE void store_scales(float factor, const std::uint32_t* integers) const {
    for_each_eight<kCount>(factor, integers, kBias, [&](std::size_t i, auto scales) HWY_ATTR {
      const auto factors = hn::Mul(scales, hn::LoadU(DotLanes(), x_.units + i));
      hn::Store(hn::ConcatLowerLower(DotLanes(), factors, factors), DotLanes(), factors_ + 2 * i);
      hn::Store(hn::ConcatUpperUpper(DotLanes(), factors, factors), DotLanes(),
                factors_ + 2 * i + 8);
      if constexpr (kHasOffset) {
        add_minimums(i, scales);
      }
    });
  }
  template <std::size_t kCount>
  HWY_INLINE void store_minimums(float factor, const std::uint32_t* integers) const {
    for_each_eight<kCount>(factor, integers, 0, [&](std::size_t i, auto minimums) HWY_ATTR {
      add_minimums(i, minimums);
    });
  }

 private:
  static constexpr std::size_t kGroup = Blocks::kGroup;

  HWY_INLINE void add_minimums(std::size_t group, hn::Vec<DotLanes> minimums) const {
    sums_.minimums = hn::MulAdd(minimums, hn::LoadU(DotLanes(), x_.sums + group), sums_.minimums);
  }

  static constexpr UnpackedBlocks kNowhere{nullptr, nullptr, nullptr, 0};

  // Calls take(i, factor * (integers [i, i + 8) + bias)).
  template <std::size_t kCount, class Take>
  static HWY_INLINE void for_each_eight(float factor, const std::uint32_t* integers,
                                        std::int8_t bias, const Take& take) {
    const DotLanes d;
    const hn::RebindToSigned<DotLanes> words;
    HWY_UNROLL(2)
    for (std::size_t i = 0; i < kCount; i += 8) {
      const std::uint64_t eight = integers[i / 4] | std::uint64_t{integers[i / 4 + 1]} << 32;
      const __m128i packed = _mm_cvtsi64_si128(static_cast<std::int64_t>(eight));
      const auto whole =
          hn::Add(hn::Vec<decltype(words)>{_mm256_cvtepi8_epi32(packed)}, hn::Set(words, bias));
      take(i, hn::Mul(hn::ConvertTo(d, whole), hn::Set(d, factor)));
    }
  }

  // Returns the factor of each lane: those of 32 numbers from `group` on.
  HWY_INLINE __m256 factor(std::size_t group) const {
    if constexpr (Blocks::kNumbers == kGroup) {
      return _mm256_set1_ps(factors_[0]);
    } else {
      const auto place = static_cast<int>(group % 4);
      const int next = kGroup == 32 ? place : place + 1;
      return _mm256_permutevar_ps(
          _mm256_load_ps(factors_ + group / 4 * 8),
          _mm256_setr_epi32(place, place, place, place, next, next, next, next));
    }
  }

  const IntegerRow& x_;
  ColumnSums& sums_;
  // Each four twice: shuffles within halves of vectors are the fastest.
  HWY_ALIGN mutable float factors_[8 * ((Blocks::kNumbers / kGroup + 3) / 4)];
};

// Adds a block's products. Types whose unpacking stores less than 32 quants at a time, or looks
// them up one by one, store them all first.
template <class Blocks>
HWY_INLINE void add_block(const std::uint8_t* block, const IntegerRow& x, ColumnSums& sums) {
  constexpr std::size_t kGroup = Blocks::kGroup;
  const BlockDot<Blocks> dot(block, x, sums);
  if constexpr (requires { Blocks::unpack(dot); }) {
    Blocks::unpack(dot);
  } else {
    constexpr std::size_t kGroups = Blocks::kNumbers / kGroup;
    HWY_ALIGN std::int8_t quants[Blocks::kNumbers];
    float scales[kGroups];
    float minimums[kGroups];
    const UnpackedBlocks to{quants, scales, minimums, 1};
    if constexpr (requires { Blocks::unpack(OneBlock(block, to)); }) {
      Blocks::unpack(OneBlock(block, to));
    } else {
      Blocks::unpack(block, to);
    }
    for (std::size_t group = 0; group < kGroups; ++group) {
      dot.store_scale(scales[group], group);
    }
    const hn::FixedTag<std::uint8_t, 32> d;
    for (std::size_t i = 0; i < Blocks::kNumbers; i += 32) {
      dot.store(hn::Load(d, reinterpret_cast<const std::uint8_t*>(quants) + i), d, i);
    }
  }
}

// Adds up kBlocks neighbours, whose sums do not wait for each other.
template <class Blocks, std::size_t kBlocks>
HWY_INLINE void add_blocks(const std::uint8_t* block, const IntegerRow& x, ColumnSums& sums) {
  constexpr std::size_t kBytesAhead = 2048;
  for (std::size_t line = 0; line < kBlocks * Blocks::kBytes; line += 64) {
    __builtin_prefetch(block + kBytesAhead + line);
  }
  ColumnSums of_block[kBlocks];
  for_each_size<kBlocks>([&](auto i) ATTNVIZ_INLINE_LAMBDA {
    const std::size_t group = i() * Blocks::kNumbers / Blocks::kGroup;
    const IntegerRow here{x.digits + i() * 4 * Blocks::kNumbers, x.units + group, x.sums + group};
    add_block<Blocks>(block + i() * Blocks::kBytes, here, of_block[i()]);
  });
  for_each_size<kBlocks>([&](auto i) ATTNVIZ_INLINE_LAMBDA { sums.add(of_block[i()]); });
}

template <class Blocks>
void multiply_alone(IntegerRow x, const std::uint8_t* columns, std::size_t column_bytes,
                    std::size_t n_blocks, std::span<float> out) {
  constexpr std::size_t kBlocks = 256 / Blocks::kNumbers;
  for (float& sum : out) {
    ColumnSums sums;
    IntegerRow here = x;
    const std::uint8_t* block = columns;
    const auto add = [&](auto count) ATTNVIZ_INLINE_LAMBDA {
      add_blocks<Blocks, count()>(block, here, sums);
      block += count() * Blocks::kBytes;
      here.digits += count() * 4 * Blocks::kNumbers;
      here.units += count() * Blocks::kNumbers / Blocks::kGroup;
      here.sums += count() * Blocks::kNumbers / Blocks::kGroup;
    };
    std::size_t i = 0;
    for (; i + kBlocks <= n_blocks; i += kBlocks) {
      add(Size<kBlocks>{});
    }
    for (; i < n_blocks; ++i) {
      add(Size<1>{});
    }
    sum += BlockDot<Blocks>::total(sums);
    columns += column_bytes;
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // per-target include guard
