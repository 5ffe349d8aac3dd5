// Unpacking of quantised blocks, compiled once per SIMD target.

#include "attnviz/kernels/unpack.h"

#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/unpack.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/block_bits-inl.h"
#include "attnviz/kernels/codebook_blocks-inl.h"
#include "attnviz/kernels/large_blocks-inl.h"
#include "attnviz/kernels/small_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {

template <class Blocks>
void unpack_blocks(const std::uint8_t* blocks, std::size_t n_blocks, const UnpackedBlocks& to) {
  constexpr std::size_t kGroups = Blocks::kNumbers / Blocks::kGroup;
  UnpackedBlocks at = to;
  for (std::size_t i = 0; i < n_blocks; ++i) {
    Blocks::unpack(blocks, at);
    blocks += Blocks::kBytes;
    at.quants += Blocks::kNumbers;
    at.scales += kGroups * at.step;
    if constexpr (Blocks::kHasMinimums) {
      at.minimums += kGroups * at.step;
    }
  }
}

template <class Blocks>
Unpacker unpacker_of() {
  return {unpack_blocks<Blocks>,
          {Blocks::kNumbers, Blocks::kBytes},
          Blocks::kGroup,
          Blocks::kHasMinimums};
}

Unpacker unpacker(StoredType type) {
  switch (type) {
    case StoredType::kQ4_0:
      return unpacker_of<BlocksQ40>();
    case StoredType::kQ4_1:
      return unpacker_of<BlocksQ41>();
    case StoredType::kQ5_0:
      return unpacker_of<BlocksQ50>();
    case StoredType::kQ5_1:
      return unpacker_of<BlocksQ51>();
    case StoredType::kQ8_0:
      return unpacker_of<BlocksQ80>();
    case StoredType::kQ2_K:
      return unpacker_of<BlocksQ2K>();
    case StoredType::kQ3_K:
      return unpacker_of<BlocksQ3K>();
    case StoredType::kQ4_K:
      return unpacker_of<BlocksQ4K>();
    case StoredType::kQ5_K:
      return unpacker_of<BlocksQ5K>();
    case StoredType::kQ6_K:
      return unpacker_of<BlocksQ6K>();
    case StoredType::kIQ4_NL:
      return unpacker_of<BlocksIQ4NL>();
    case StoredType::kIQ4_XS:
      return unpacker_of<BlocksIQ4XS>();
    case StoredType::kIQ2_XXS:
      return unpacker_of<BlocksIQ2XXS>();
    case StoredType::kIQ2_XS:
      return unpacker_of<BlocksIQ2XS>();
    case StoredType::kIQ2_S:
      return unpacker_of<BlocksIQ2S>();
    case StoredType::kIQ3_XXS:
      return unpacker_of<BlocksIQ3XXS>();
    case StoredType::kIQ3_S:
      return unpacker_of<BlocksIQ3S>();
    case StoredType::kIQ1_S:
      return unpacker_of<BlocksIQ1S>();
    case StoredType::kIQ1_M:
      return unpacker_of<BlocksIQ1M>();
    case StoredType::kTQ1_0:
      return unpacker_of<BlocksTQ10>();
    case StoredType::kTQ2_0:
      return unpacker_of<BlocksTQ20>();
    default:
      assert(type == StoredType::kMXFP4);
      return unpacker_of<BlocksMXFP4>();
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(unpacker);

Unpacker unpacker(StoredType type) noexcept {
  return HWY_DYNAMIC_DISPATCH(unpacker)(type);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
