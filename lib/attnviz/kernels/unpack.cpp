// Unpacks quantised blocks into integers or floats, compiled once per SIMD target.

#include "attnviz/kernels/unpack.h"

#include <algorithm>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/unpack.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/block_dots-inl.h"
#include "attnviz/kernels/block_places-inl.h"
#include "attnviz/kernels/codebook_blocks-inl.h"
#include "attnviz/kernels/large_blocks-inl.h"
#include "attnviz/kernels/small_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Blocks>
void unpack_blocks(const std::uint8_t* blocks, std::size_t n_blocks, const UnpackedBlocks& to) {
  constexpr std::size_t kGroups = Blocks::kNumbers / Blocks::kGroup;
  UnpackedBlocks at = to;
  for (std::size_t i = 0; i < n_blocks; ++i) {
    if constexpr (requires { Blocks::unpack(OneBlock(blocks, at)); }) {
      Blocks::unpack(OneBlock(blocks, at));
    } else {
      Blocks::unpack(blocks, at);
    }
    blocks += Blocks::kBytes;
    at.quants += Blocks::kNumbers;
    at.scales += kGroups * at.step;
    if constexpr (Blocks::kHasMinimums) {
      at.minimums += kGroups * at.step;
    }
  }
}

#if ATTNVIZ_HAS_BLOCK_LANES
template <class Blocks>
void unpack_lanes(const BlocksApart& from, const LaneBlocks& to) {
  if constexpr (requires(OneBlock place) { Blocks::unpack(place); }) {
    Blocks::unpack(BlockLanes<Blocks>(from, to));
  } else {
    HWY_ALIGN std::int8_t quants[kBlockLanes][Blocks::kNumbers];
    for (std::size_t i = 0; i < kBlockLanes; ++i) {
      prefetch<Blocks::kBytes>(from.later + i * from.later_stride);
      Blocks::unpack(from.blocks + i * from.stride,
                     {quants[i], to.scales + i, to.minimums + i, kLaneStep});
    }
    store_words_of_quants<Blocks::kNumbers>(quants[0], to);
  }
}
template <class Blocks>
constexpr auto kUnpackLanes = unpack_lanes<Blocks>;
#else
template <class Blocks>
constexpr decltype(Unpacker::unpack_lanes) kUnpackLanes = nullptr;
#endif

template <class Blocks>
constexpr decltype(Unpacker::multiply_lanes) kMultiplyLanes = nullptr;

// The Highway target for AVX-512 lacks integer products, which the processors meant here have.
// Clang does not assemble instructions that a function's target lacks.
#if ATTNVIZ_HAS_BLOCK_LANES && HWY_COMPILER_GCC_ACTUAL
using LaneBytes = hn::FixedTag<std::uint8_t, 4 * kBlockLanes>;

// Eight words of each of sixteen blocks.
struct LaneOctet {
  LaneWords words[8];
};

// Transposes thirty-two bytes of blocks that lie `stride` bytes apart: wider loads than for two
// quads.
HWY_INLINE LaneOctet transposed_octet(const std::uint8_t* blocks, std::size_t stride) {
  // Loads blocks i and i + 4.
  const auto two = [&](std::size_t i) HWY_ATTR {
    const auto load = [&](std::size_t block) HWY_ATTR {
      const std::uint8_t* const from = blocks + block * stride + i * stride;
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    };
    return LaneWords{_mm512_inserti64x4(_mm512_castsi256_si512(load(0)), load(4), 1)};
  };
  // Alternating: four lanes of one of the first four words and of one of the last four.
  const LaneQuad first_blocks = transposed(two(0), two(1), two(2), two(3));
  const LaneQuad last_blocks = transposed(two(8), two(9), two(10), two(11));
  LaneOctet octet;
  for_each_size<4>([&](auto i) HWY_ATTR {
    const __m512i a = first_blocks.words[i()].raw;
    const __m512i b = last_blocks.words[i()].raw;
    octet.words[i()] = LaneWords{_mm512_shuffle_i32x4(a, b, 0x88)};
    octet.words[4 + i()] = LaneWords{_mm512_shuffle_i32x4(a, b, 0xDD)};
  });
  return octet;
}

// What the unsigned bytes are: the quants themselves, 16 times the quants, as upper nibbles without
// a shift are, or the quants plus 32.
enum class ByteForm { kPlain, kSixteenfold, kWith32 };

// The sums of a group's activations, in three digits, times quants. Added 32s are cancelled by the
// initial values of the first and third sums, factors of 16 by shifts of the sums, which are all
// multiples of 16. Sums of quants this small are floats without rounding, as are those of the same
// quants with 128 added.
template <ByteForm kForm>
class LaneDots {
 public:
  explicit HWY_INLINE LaneDots(const ActivationGroup& group) : second_(_mm512_setzero_si512()) {
    first_ = kForm == ByteForm::kWith32 ? _mm512_set1_epi32(group.high_32) : second_;
    third_ = kForm == ByteForm::kWith32 ? _mm512_set1_epi32(group.low_32) : second_;
  }

  // Multiplies four quants of each block by four activations.
  HWY_INLINE void add(hn::Vec<LaneBytes> quants, const std::int8_t* digits) {
    first_ = sum_of_products(first_, quants.raw, digits);
    second_ = sum_of_products(second_, quants.raw, digits + 4);
    third_ = sum_of_products(third_, quants.raw, digits + 8);
  }
  HWY_INLINE LaneFloats value() const {
    if constexpr (kForm == ByteForm::kSixteenfold) {
      return value(_mm512_slli_epi32(first_, 4), _mm512_srai_epi32(second_, 4),
                   _mm512_srai_epi32(third_, 4));
    } else {
      return value(_mm512_slli_epi32(first_, 8), second_, third_);
    }
  }

 private:
  static HWY_INLINE LaneFloats value(__m512i first, __m512i second, __m512i third) {
    return LaneFloats{_mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(first, second)),
                                      _mm512_set1_ps(256.0f), _mm512_cvtepi32_ps(third))};
  }
  // Returns sums + each lane's four unsigned bytes times the same four signed bytes.
  static HWY_INLINE __m512i sum_of_products(__m512i sums, __m512i quants, const std::int8_t* four) {
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sums)
            : "v"(quants), "m"(*reinterpret_cast<const std::int8_t(*)[4]>(four)));
    return sums;
  }

  __m512i first_;
  __m512i second_;
  __m512i third_;
};

// Bytes [kFirst, kFirst + 16) of blocks, and sixteen from kHalves on for half-precision numbers.
template <std::size_t kFirst, std::size_t kHalves>
class QuadLanes : public LaneScales {
 public:
  HWY_INLINE QuadLanes(const LaneQuad& first, const LaneQuad& halves, const LaneBlocks& to)
      : LaneScales(to), first_(first), halves_(halves) {}

  HWY_INLINE LaneWords word(std::size_t offset) const {
    return first_.words[(offset - kFirst) / 4];
  }
  HWY_INLINE LaneFloats half(std::size_t offset) const {
    return half_of(halves_.words[(offset - kHalves) / 4], (offset - kHalves) % 4 != 0);
  }

 private:
  const LaneQuad& first_;
  const LaneQuad& halves_;
};

// kBlockLanes blocks whose quants are used as they are read: some bytes of each at a time, while
// part of the later blocks is prefetched. Scales and minimums are stored beforehand.
template <class Blocks>
class LaneStream {
 public:
  HWY_INLINE LaneStream(const std::uint8_t* blocks, std::size_t stride, const std::uint8_t* later)
      : blocks_(blocks), stride_(stride), later_(later) {}

  // Loads bytes [offset, offset + 16), four of each block per vector.
  HWY_INLINE LaneQuad quad(std::size_t offset) {
    ask_for_later(16);
    return transposed_quad(blocks_ + offset, stride_);
  }
  // Loads bytes [offset, offset + 32).
  HWY_INLINE LaneOctet octet(std::size_t offset) {
    ask_for_later(32);
    return transposed_octet(blocks_ + offset, stride_);
  }

  LaneBlocks scales() { return {nullptr, scales_, minimums_}; }
  // sum += a group's dot products, scaled.
  HWY_INLINE void add(LaneFloats dots, std::size_t group, const ActivationGroup& activations,
                      LaneFloats& sum) const {
    const hn::FixedTag<float, kBlockLanes> d;
    const auto scale = hn::Load(d, scales_ + group * kLaneStep);
    sum = hn::MulAdd(dots, hn::Mul(scale, hn::Set(d, activations.unit)), sum);
    if constexpr (Blocks::kHasMinimums) {
      sum = hn::NegMulAdd(hn::Load(d, minimums_ + group * kLaneStep), hn::Set(d, activations.sum),
                          sum);
    }
  }

 private:
  static constexpr std::size_t kGroups = Blocks::kNumbers / Blocks::kGroup;

  // Prefetches as many bytes as n_bytes of each block make, into the second-level cache: current
  // and later data would not both fit a first-level cache of 32 KB. It also advances the position:
  // GCC assumes that a function which only prefetches does nothing.
  HWY_INLINE void ask_for_later(std::size_t n_bytes) {
    constexpr int kSecondLevel = 2;
    // A processor drops prefetches while too many are pending: with more than six bits per number,
    // data is requested again at half the distance.
    constexpr bool kAsksAgain = Blocks::kBytes * 4 > Blocks::kNumbers * 3;
    for (std::size_t i = 0; i < n_bytes * kBlockLanes; i += 64) {
      __builtin_prefetch(later_ + i, 0, kSecondLevel);
      if constexpr (kAsksAgain) {
        __builtin_prefetch(later_ + i - kLanesAhead / 2 * stride_, 0, kSecondLevel);
      }
    }
    later_ += n_bytes * kBlockLanes;
  }

  const std::uint8_t* blocks_;
  std::size_t stride_;
  const std::uint8_t* later_;
  HWY_ALIGN float scales_[kGroups * kLaneStep];
  HWY_ALIGN float minimums_[kGroups * kLaneStep];
};

void multiply_q4_k(const std::uint8_t* blocks, std::size_t stride, const std::uint8_t* later,
                   const std::int8_t* digits, const ActivationGroup* groups, float* out) {
  LaneStream<BlocksQ4K> stream(blocks, stride, later);
  const LaneBlocks scales = stream.scales();
  const LaneQuad head = stream.quad(0);
  unpack_scales_and_minimums(QuadLanes<0, 0>(head, head, scales));
  const LaneBytes d;
  const hn::FixedTag<float, kBlockLanes> floats;
  LaneFloats sum = hn::LoadU(floats, out);
  for (std::size_t group = 0; group < 8; group += 2) {
    LaneDots<ByteForm::kPlain> low(groups[group]);
    LaneDots<ByteForm::kSixteenfold> high(groups[group + 1]);
    const LaneOctet octet = stream.octet(16 + 16 * group);
    for_each_size<8>([&](auto i) HWY_ATTR {
      const auto bytes = hn::BitCast(d, octet.words[i()]);
      low.add(hn::And(bytes, hn::Set(d, 0x0F)), digits + 16 * i());
      high.add(hn::And(bytes, hn::Set(d, 0xF0)), digits + 4 * 32 + 16 * i());
    });
    stream.add(low.value(), group, groups[group], sum);
    stream.add(high.value(), group + 1, groups[group + 1], sum);
    digits += std::ptrdiff_t{4} * 64;
  }
  hn::StoreU(sum, floats, out);
}
template <>
constexpr auto kMultiplyLanes<BlocksQ4K> = multiply_q4_k;

void multiply_q6_k(const std::uint8_t* blocks, std::size_t stride, const std::uint8_t* later,
                   const std::int8_t* digits, const ActivationGroup* groups, float* out) {
  LaneStream<BlocksQ6K> stream(blocks, stride, later);
  const LaneBlocks scales = stream.scales();
  const LaneQuad tail = stream.quad(192);
  const LaneQuad end = stream.quad(194);
  BlocksQ6K::unpack_scales(QuadLanes<192, 194>(tail, end, scales));
  const LaneBytes d;
  const hn::FixedTag<float, kBlockLanes> floats;
  LaneFloats sum = hn::LoadU(floats, out);
  for (std::size_t part = 0; part < 2; ++part) {
    LaneFloats dots[8];  // by group
    const LaneOctet upper = stream.octet(128 + 32 * part);
    for_each_size<2>([&](auto second) HWY_ATTR {
      const LaneOctet nibbles = stream.octet(64 * part + 32 * second());
      for_each_size<2>([&](auto half) HWY_ATTR {
        const std::size_t group = half() + 2 * second();
        LaneDots<ByteForm::kWith32> low(groups[group]);
        LaneDots<ByteForm::kWith32> high(groups[group + 4]);
        for_each_size<4>([&](auto i) HWY_ATTR {
          const std::size_t word = 4 * half() + i();
          const auto quants = BlocksQ6K::quants<second()>(d, hn::BitCast(d, nibbles.words[word]),
                                                          hn::BitCast(d, upper.words[word]));
          const std::int8_t* const of_low = digits + 4 * (32 * second() + 4 * word);
          low.add(quants.low, of_low);
          high.add(quants.high, of_low + 4 * 64);
        });
        dots[group] = low.value();
        dots[group + 4] = high.value();
      });
    });
    for_each_size<8>([&](auto group) HWY_ATTR {
      stream.add(dots[group()], 8 * part + group(), groups[group()], sum);
    });
    digits += std::ptrdiff_t{4} * 128;
    groups += 8;
  }
  hn::StoreU(sum, floats, out);
}
template <>
constexpr auto kMultiplyLanes<BlocksQ6K> = multiply_q6_k;
#endif

#if ATTNVIZ_HAS_BLOCK_DOTS
template <class Blocks>
constexpr auto kMultiplyAlone = multiply_alone<Blocks>;
#else
template <class Blocks>
constexpr decltype(Unpacker::multiply_alone) kMultiplyAlone = nullptr;
#endif

template <class Blocks>
constexpr Unpacker kUnpacker = {unpack_blocks<Blocks>,  kUnpackLanes<Blocks>,
                                kMultiplyLanes<Blocks>, kMultiplyAlone<Blocks>,
                                Blocks::kMost < 128,    {Blocks::kNumbers, Blocks::kBytes},
                                Blocks::kGroup,         Blocks::kHasMinimums};

// In the order of StoredType, from kQ4_0 on.
constexpr Unpacker kUnpackers[] = {
    kUnpacker<BlocksQ40>,    kUnpacker<BlocksQ41>,   kUnpacker<BlocksQ50>,
    kUnpacker<BlocksQ51>,    kUnpacker<BlocksQ80>,   kUnpacker<BlocksQ2K>,
    kUnpacker<BlocksQ3K>,    kUnpacker<BlocksQ4K>,   kUnpacker<BlocksQ5K>,
    kUnpacker<BlocksQ6K>,    kUnpacker<BlocksIQ4NL>, kUnpacker<BlocksIQ4XS>,
    kUnpacker<BlocksIQ2XXS>, kUnpacker<BlocksIQ2XS>, kUnpacker<BlocksIQ2S>,
    kUnpacker<BlocksIQ3XXS>, kUnpacker<BlocksIQ3S>,  kUnpacker<BlocksIQ1S>,
    kUnpacker<BlocksIQ1M>,   kUnpacker<BlocksTQ10>,  kUnpacker<BlocksTQ20>,
    kUnpacker<BlocksMXFP4>,
};
constexpr auto kFirstQuantised = static_cast<std::size_t>(StoredType::kQ4_0);
static_assert(std::size(kUnpackers) ==
              static_cast<std::size_t>(kLastStoredType) + 1 - kFirstQuantised);

Unpacker unpacker(StoredType type) {
  return kUnpackers[static_cast<std::size_t>(type) - kFirstQuantised];
}

// Numbers that are unpacked at a time: whole blocks of any type.
constexpr std::size_t kRun = 256;

// Converts `count` numbers, which fill whole groups. The product is rounded before the difference,
// as elsewhere.
void multiply_quants(const UnpackedBlocks& from, const Unpacker& type, std::size_t count,
                     float* to) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<std::int8_t, decltype(d)> bytes;
  for (std::size_t group = 0; group < count / type.group; ++group) {
    const auto scale = hn::Set(d, from.scales[group]);
    const auto minimum = type.has_minimums ? hn::Set(d, from.minimums[group]) : hn::Zero(d);
    const std::size_t end = (group + 1) * type.group;
    for (std::size_t i = group * type.group; i < end; i += hn::Lanes(d)) {
      const auto quants = hn::PromoteTo(integers, hn::LoadU(bytes, from.quants + i));
      hn::StoreU(hn::Sub(hn::Mul(hn::ConvertTo(d, quants), scale), minimum), d, to + i);
    }
  }
}

void dequantise(StoredType stored, const std::uint8_t* blocks, std::size_t first,
                std::span<float> to) {
  const Unpacker type = unpacker(stored);
  HWY_ALIGN std::int8_t quants[kRun];
  HWY_ALIGN float scales[kRun / 16];
  HWY_ALIGN float minimums[kRun / 16];
  HWY_ALIGN float whole[kRun];
  const UnpackedBlocks unpacked{quants, scales, minimums, 1};
  const std::size_t block = type.block.numbers;
  while (!to.empty()) {
    const std::size_t skip = first % block;
    const std::size_t here = HWY_MIN(kRun - skip, to.size());
    const std::size_t n_blocks = (skip + here + block - 1) / block;
    type.unpack(blocks + first / block * type.block.bytes, n_blocks, unpacked);
    const bool fits = here == n_blocks * block;
    multiply_quants(unpacked, type, n_blocks * block, fits ? to.data() : whole);
    if (!fits) {
      std::copy_n(whole + skip, here, to.data());
    }
    first += here;
    to = to.subspan(here);
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(unpacker);
HWY_EXPORT(dequantise);

Unpacker unpacker(StoredType type) noexcept {
  return HWY_DYNAMIC_DISPATCH(unpacker)(type);
}

bool can_unpack_lanes() noexcept {
#if HWY_ARCH_X86
  constexpr std::int64_t kAvx3AndBetter = HWY_AVX3 | (HWY_AVX3 - 1);  // better ones are lower bits
  return (hwy::SupportedTargets() & HWY_TARGETS & kAvx3AndBetter) != 0;
#else
  return false;
#endif
}

void dequantise(StoredType type, const void* blocks, std::size_t first,
                std::span<float> to) noexcept {
  HWY_DYNAMIC_DISPATCH(dequantise)(type, static_cast<const std::uint8_t*>(blocks), first, to);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
