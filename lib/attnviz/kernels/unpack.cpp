// Unpacking of quantised blocks, and floats of their numbers, compiled once per SIMD target.

#include "attnviz/kernels/unpack.h"

#include <algorithm>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/unpack.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

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

// Highway's target has no integer products, which processors have that these functions are for.
// Clang does not assemble what a function's target does not have.
#if ATTNVIZ_HAS_BLOCK_LANES && HWY_COMPILER_GCC_ACTUAL
// What three digits of a group of activations add up to with quants that are not stored before.
class LaneDots {
 public:
  using Floats = hn::FixedTag<float, kBlockLanes>;

  explicit HWY_INLINE LaneDots(const ActivationGroup& group)
      : first_(_mm512_set1_epi32(group.high)),
        second_(_mm512_setzero_si512()),
        third_(_mm512_set1_epi32(group.low)) {}

  // Four quants of each block by four activations.
  template <class V>
  HWY_INLINE void add(V quants, const std::int8_t* digits) {
    const __m512i bytes = _mm512_xor_si512(quants.raw, _mm512_set1_epi8(-128));
    add_products(first_, bytes, digits);
    add_products(second_, bytes, digits + 4);
    add_products(third_, bytes, digits + 8);
  }
  HWY_INLINE LaneFloats value() const {
    const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(first_, 8), second_);
    return LaneFloats{_mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(256.0f),
                                      _mm512_cvtepi32_ps(third_))};
  }

 private:
  // sums += each lane's four bytes without sign by the same four with one.
  static HWY_INLINE void add_products(__m512i& sums, __m512i quants, const std::int8_t* four) {
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sums)
            : "v"(quants), "m"(*reinterpret_cast<const std::int8_t(*)[4]>(four)));
  }

  __m512i first_;
  __m512i second_;
  __m512i third_;
};

// Scales and minimums of a block's groups; quants are left out.
template <class Blocks>
struct LaneScales {
  static constexpr std::size_t kGroups = Blocks::kNumbers / Blocks::kGroup;
  HWY_ALIGN float scales[kGroups * kLaneStep];
  HWY_ALIGN float minimums[kGroups * kLaneStep];

  LaneBlocks places() { return {nullptr, scales, minimums}; }
  HWY_INLINE LaneFloats add(LaneFloats sum, LaneFloats dots, std::size_t group,
                            const ActivationGroup& activations) const {
    const LaneDots::Floats d;
    const auto scale = hn::Load(d, scales + group * kLaneStep);
    sum = hn::MulAdd(dots, hn::Mul(scale, hn::Set(d, activations.unit)), sum);
    if constexpr (Blocks::kHasMinimums) {
      sum = hn::NegMulAdd(hn::Load(d, minimums + group * kLaneStep), hn::Set(d, activations.sum),
                          sum);
    }
    return sum;
  }
};

void multiply_q4_k(const BlocksApart& from, const std::int8_t* digits,
                   const ActivationGroup* groups, float* out) {
  LaneScales<BlocksQ4K> scales;
  const LaneBlocks places = scales.places();
  const BlockLanes<BlocksQ4K> place(from, places);
  unpack_scales_and_minimums(place);
  const hn::FixedTag<std::uint8_t, 4 * kBlockLanes> d;
  LaneFloats sum = hn::LoadU(LaneDots::Floats(), out);
  for (std::size_t group = 0; group < 8; group += 2) {
    LaneDots low(groups[group]);
    LaneDots high(groups[group + 1]);
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < 32; j += 4) {
      const auto bytes = place.load(d, 16 + 16 * group + j);
      low.add(hn::And(bytes, hn::Set(d, 15)), digits + 4 * j);
      high.add(hn::ShiftRight<4>(bytes), digits + 4 * (32 + j));
    }
    sum = scales.add(sum, low.value(), group, groups[group]);
    sum = scales.add(sum, high.value(), group + 1, groups[group + 1]);
    digits += std::ptrdiff_t{4} * 64;
  }
  hn::StoreU(sum, LaneDots::Floats(), out);
}
template <>
constexpr auto kMultiplyLanes<BlocksQ4K> = multiply_q4_k;

void multiply_q6_k(const BlocksApart& from, const std::int8_t* digits,
                   const ActivationGroup* groups, float* out) {
  LaneScales<BlocksQ6K> scales;
  const LaneBlocks places = scales.places();
  const BlockLanes<BlocksQ6K> place(from, places);
  BlocksQ6K::unpack_scales(place);
  const hn::FixedTag<std::uint8_t, 4 * kBlockLanes> d;
  LaneFloats sum = hn::LoadU(LaneDots::Floats(), out);
  for (std::size_t part = 0; part < 2; ++part) {
    LaneFloats dots[8];  // by group, of which every second one is computed at a time
    HWY_UNROLL(2)
    for (std::size_t half = 0; half < 2; ++half) {
      LaneDots of[4] = {LaneDots(groups[half]), LaneDots(groups[half + 2]),
                        LaneDots(groups[half + 4]), LaneDots(groups[half + 6])};
      HWY_UNROLL(4)
      for (std::size_t i = 0; i < 16; i += 4) {
        const std::size_t j = 16 * half + i;
        const auto quants =
            BlocksQ6K::quants(d, place.load(d, 64 * part + j), place.load(d, 64 * part + 32 + j),
                              place.load(d, 128 + 32 * part + j));
        of[0].add(quants.first, digits + 4 * j);
        of[1].add(quants.second, digits + 4 * (32 + j));
        of[2].add(quants.third, digits + 4 * (64 + j));
        of[3].add(quants.fourth, digits + 4 * (96 + j));
      }
      HWY_UNROLL(4)
      for (std::size_t i = 0; i < 4; ++i) {
        dots[2 * i + half] = of[i].value();
      }
    }
    HWY_UNROLL(8)
    for (std::size_t group = 0; group < 8; ++group) {
      sum = scales.add(sum, dots[group], 8 * part + group, groups[group]);
    }
    digits += std::ptrdiff_t{4} * 128;
    groups += 8;
  }
  hn::StoreU(sum, LaneDots::Floats(), out);
}
template <>
constexpr auto kMultiplyLanes<BlocksQ6K> = multiply_q6_k;
#endif

template <class Blocks>
constexpr Unpacker kUnpacker = {unpack_blocks<Blocks>,  kUnpackLanes<Blocks>,
                                kMultiplyLanes<Blocks>, {Blocks::kNumbers, Blocks::kBytes},
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

// Numbers that are unpacked at a time: a whole number of blocks of any type.
constexpr std::size_t kRun = 256;

// `count` numbers, which fill groups. The product is rounded before the difference, as elsewhere.
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
