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
constexpr Unpacker kUnpacker = {unpack_blocks<Blocks>,
                                kUnpackLanes<Blocks>,
                                {Blocks::kNumbers, Blocks::kBytes},
                                Blocks::kGroup,
                                Blocks::kHasMinimums};

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
