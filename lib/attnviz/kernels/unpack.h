// Unpacks quantised blocks into small integers with their scales, or into floats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "attnviz/core/stored_matrix.h"

namespace attnviz::kernels {

/// Where unpacked blocks go: number i is quants[i] * scales[g * step] - minimums[g * step], with g
/// = i / Unpacker::group, the product rounded before the difference. The bits are then those of the
/// format's reference implementation.
struct UnpackedBlocks {
  std::int8_t* quants;
  float* scales;
  float* minimums;  // used only when the type has minimums
  std::size_t step;
};

/// Blocks that are unpacked side by side.
inline constexpr std::size_t kBlockLanes = 16;

/// Distance between consecutive numbers of a block, which leaves room for twice as many blocks.
inline constexpr std::size_t kLaneStep = 2 * kBlockLanes;

/// kBlockLanes blocks that begin `stride` bytes apart, and as many later ones to prefetch
/// meanwhile.
struct BlocksApart {
  const std::uint8_t* blocks;
  std::size_t stride;
  const std::uint8_t* later;
  std::size_t later_stride;
};

/// Where the numbers of kBlockLanes blocks go; block b goes to position b. Quants, as in
/// UnpackedBlocks but with 128 added: number i in byte i % 4 of words[i / 4 * kLaneStep + b].
/// Scales of group g in scales[g * kLaneStep + b], minimums likewise. All three are aligned to 64
/// bytes.
struct LaneBlocks {
  std::uint32_t* words;
  float* scales;
  float* minimums;
};

/// Values for a group of activations that share a unit. Quants are multiplied with 128 or 32 added,
/// so that they are unsigned bytes. That adds as many times the activations' sum, so the two sums
/// of digits start at values that cancel it: high_128 or high_32, counted in 2^16, and low_128 or
/// low_32, in ones.
struct ActivationGroup {
  float unit;
  float sum;
  std::int32_t high_128;
  std::int32_t low_128;
  std::int32_t high_32;
  std::int32_t low_32;
};

/// One row of activations as integers of 24 bits, in units of a power of two for each group, with
/// four bytes a number. For each 32 numbers, in bytes (`Unpacker::multiplies_bytes`): 32 first
/// digits, 32 second ones, 32 third ones, then nothing; number = unit * (2^16 first + 2^8 second +
/// third), digits from -128 to 127. Otherwise in words: first digits of the even numbers, of the
/// odd ones, then last digits likewise; number = unit * (2^12 first + last), digits from -2048 to
/// 2048. Digits are aligned to 32 bytes.
struct IntegerRow {
  const std::int8_t* digits;
  const float* units;  // [group]
  const float* sums;   // [group], of the activations
};

/// How many stored rows ahead of the multiplied blocks to prefetch: as far as memory latency needs.
inline constexpr std::size_t kLanesAhead = 48;

/// The functions that unpack blocks of one type.
struct Unpacker {
  /// Unpacks n_blocks blocks, which may begin at any address.
  void (*unpack)(const std::uint8_t* blocks, std::size_t n_blocks, const UnpackedBlocks& to);
  /// Unpacks kBlockLanes blocks. Null for SIMD targets without vectors of that width.
  void (*unpack_lanes)(const BlocksApart& from, const LaneBlocks& to);
  /// Multiplies kBlockLanes blocks, which begin `stride` bytes apart, by one row of activations,
  /// and adds the products to out[b]; the bits equal those of unpacked lanes. Prefetches as many
  /// blocks from `later` on, one after the other, which is kLanesAhead rows ahead and may be past
  /// the end of the data; possibly nearer ones, too. `digits`: for each four numbers, four first
  /// digits, four second ones, four third ones and four unused bytes. Needs AVX-512 VNNI; null for
  /// most types, and where it is not compiled. The pointers are not passed in a struct: a wide load
  /// of one would have to wait for the narrow stores before it.
  void (*multiply_lanes)(const std::uint8_t* blocks, std::size_t stride, const std::uint8_t* later,
                         const std::int8_t* digits, const ActivationGroup* groups, float* out);
  /// Multiplies a row of activations by columns of n_blocks blocks each, which begin `column_bytes`
  /// apart, and adds the products to `out`. Null where products of single rows use floats.
  void (*multiply_alone)(IntegerRow x, const std::uint8_t* columns, std::size_t column_bytes,
                         std::size_t n_blocks, std::span<float> out);
  bool multiplies_bytes;
  BlockShape block;
  std::size_t group;  // numbers that share a scale: 16 or 32
  bool has_minimums;
};

/// Returns the functions for the SIMD target in use. Precondition: is_quantised(type).
Unpacker unpacker(StoredType type) noexcept;

/// Whether lanes are unpacked by the best compiled SIMD target that this machine has.
bool can_unpack_lanes() noexcept;

/// Writes the numbers [first, first + to.size()) of blocks that start at `blocks`, which may be any
/// address. The bits are those that the format's reference implementation computes. Preconditions:
/// is_quantised(type); all blocks that contain the numbers are present.
void dequantise(StoredType type, const void* blocks, std::size_t first,
                std::span<float> to) noexcept;

// The codebooks of GGUF's smallest types, for the kernels that unpack them.

/// Eight numbers per index, one per byte, the first lowest: -8, 0 or 8, each plus 128.
extern const std::array<std::uint64_t, 2048> kIq1Codebook;

/// Eight positive numbers per index, one per byte, the first lowest.
extern const std::array<std::uint64_t, 256> kIq2XxsCodebook;
extern const std::array<std::uint64_t, 512> kIq2XsCodebook;
extern const std::array<std::uint64_t, 1024> kIq2SCodebook;

/// Four positive numbers per index, one per byte, the first lowest.
extern const std::array<std::uint32_t, 256> kIq3XxsCodebook;
extern const std::array<std::uint32_t, 512> kIq3SCodebook;

}  // namespace attnviz::kernels
