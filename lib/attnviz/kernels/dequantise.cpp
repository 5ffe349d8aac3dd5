// Floats of quantised numbers, compiled once per SIMD target.

#include "attnviz/kernels/dequantise.h"

#include <algorithm>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/dequantise.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

#include "attnviz/kernels/unpack.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

void dequantise(const Unpacker& type, const std::uint8_t* blocks, std::size_t first,
                std::span<float> to) {
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
HWY_EXPORT(dequantise);

void dequantise(StoredType type, const void* blocks, std::size_t first,
                std::span<float> to) noexcept {
  HWY_DYNAMIC_DISPATCH(dequantise)
  (unpacker(type), static_cast<const std::uint8_t*>(blocks), first, to);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
