// Quantised blocks, taken apart into small integers and what turns these into numbers, or made
// floats at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "attnviz/core/stored_matrix.h"

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

/// Blocks that are unpacked side by side.
inline constexpr std::size_t kBlockLanes = 16;

/// Numbers from one number of a block to the next, for two times as many blocks.
inline constexpr std::size_t kLaneStep = 2 * kBlockLanes;

/// kBlockLanes blocks that begin `stride` bytes after each other, and as many that come later,
/// which are asked for meanwhile.
struct BlocksApart {
  const std::uint8_t* blocks;
  std::size_t stride;
  const std::uint8_t* later;
  std::size_t later_stride;
};

/// Where the numbers of kBlockLanes blocks go, of block b to place b: quants as UnpackedBlocks has
/// them, with 128 added, number i in byte i % 4 of words[i / 4 * kLaneStep + b]; of group g
/// scales[g * kLaneStep + b] and minimums. All three are aligned to 64 bytes.
struct LaneBlocks {
  std::uint32_t* words;
  float* scales;
  float* minimums;
};

/// What belongs to activations that share a unit. Where quants are multiplied with 128 or 32 added,
/// so that they are bytes without sign, so many times the activations' sum is too much then, which
/// is what the two sums of digits begin with: high_128 or high_32, counted in 2^16, and low_128 or
/// low_32, in ones.
struct ActivationGroup {
  float unit;
  float sum;
  std::int32_t high_128;
  std::int32_t low_128;
  std::int32_t high_32;
  std::int32_t low_32;
};

/// Stored rows from those whose blocks are multiplied to those that are asked for meanwhile: what
/// memory takes.
inline constexpr std::size_t kLanesAhead = 48;

/// How blocks of one type are unpacked.
struct Unpacker {
  /// Unpacks so many blocks, which may begin at any address.
  void (*unpack)(const std::uint8_t* blocks, std::size_t n_blocks, const UnpackedBlocks& to);
  /// Unpacks kBlockLanes blocks. Null for SIMD targets without as wide vectors.
  void (*unpack_lanes)(const BlocksApart& from, const LaneBlocks& to);
  /// Adds the products of kBlockLanes blocks, which begin `stride` bytes after each other, with one
  /// row of activations to out[b]: to the bit what those of unpacked lanes add. Asks for as many
  /// blocks from `later` on, one after the other, which is kLanesAhead rows behind these and may be
  /// behind all that there is; and perhaps for nearer ones. `digits`: of each four numbers four
  /// first digits, four second ones, four third ones and four bytes that are not read. Needs
  /// AVX-512 VNNI; null for most types, and where it is not compiled. No struct of pointers: a wide
  /// load of one would have to wait for the narrow stores before it.
  void (*multiply_lanes)(const std::uint8_t* blocks, std::size_t stride, const std::uint8_t* later,
                         const std::int8_t* digits, const ActivationGroup* groups, float* out);
  BlockShape block;
  std::size_t group;  // numbers that share a scale: 16 or 32
  bool has_minimums;
};

/// By the SIMD target in use. Precondition: is_quantised(type).
Unpacker unpacker(StoredType type) noexcept;

/// Whether the best SIMD target that is compiled in and that this machine has unpacks lanes.
bool can_unpack_lanes() noexcept;

/// Numbers [first, first + to.size()) of those whose first block lies at `blocks`, which may be any
/// address. The bits are those that the format's reference implementation computes.
/// Preconditions: is_quantised(type); all blocks that the numbers lie in are there.
void dequantise(StoredType type, const void* blocks, std::size_t first,
                std::span<float> to) noexcept;

// What the indices in blocks of GGUF's smallest types stand for. For the kernels that unpack them.

/// Eight numbers an index, one a byte, the first lowest: -8, 0 or 8, each plus 128.
extern const std::array<std::uint64_t, 2048> kIq1Codebook;

/// Eight positive numbers an index, one a byte, the first lowest.
extern const std::array<std::uint64_t, 256> kIq2XxsCodebook;
extern const std::array<std::uint64_t, 512> kIq2XsCodebook;
extern const std::array<std::uint64_t, 1024> kIq2SCodebook;

/// Four positive numbers an index, one a byte, the first lowest.
extern const std::array<std::uint32_t, 256> kIq3XxsCodebook;
extern const std::array<std::uint32_t, 512> kIq3SCodebook;

}  // namespace attnviz::kernels
