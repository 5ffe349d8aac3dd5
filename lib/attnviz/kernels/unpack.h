// Quantised blocks, taken apart into small integers and what turns these into numbers, or made
// floats at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attnviz/core/stored_type.h"

namespace attnviz::kernels {

/// Where unpacked blocks go: number i is quants[i] * scales[g * step] - minimums[g * step], with
/// g = i / Unpacker::group, the product rounded before the difference. The bits are then those of
/// the format's reference implementation.
struct UnpackedBlocks {
  std::int8_t* quants;
  float* scales;
  float* minimums;  // looked at only when the type has minimums
  std::size_t step;
};

/// How blocks of one type are unpacked.
struct Unpacker {
  /// Unpacks so many blocks, which may begin at any address.
  void (*unpack)(const std::uint8_t* blocks, std::size_t n_blocks, const UnpackedBlocks& to);
  BlockShape block;
  std::size_t group;  // numbers that share a scale: 16 or 32
  bool has_minimums;
};

/// By the SIMD target in use. Precondition: is_quantised(type).
Unpacker unpacker(StoredType type) noexcept;

/// Numbers [first, first + to.size()) of those whose first block lies at `blocks`, which may be any
/// address. The bits are those that the format's reference implementation computes.
/// Preconditions: is_quantised(type); all blocks that the numbers lie in are there.
void dequantise(StoredType type, const void* blocks, std::size_t first,
                std::span<float> to) noexcept;

}  // namespace attnviz::kernels
