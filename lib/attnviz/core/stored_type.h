// How the numbers of a tensor are stored.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace attnviz {

/// How the numbers of a tensor are stored: each by itself, or, from kQ4_0 on, quantised, in blocks
/// of a few bits a number and scales that they share (GGUF's types).
enum class StoredType {
  kF64,
  kF32,
  kF16,
  kBf16,
  kF8E4M3,
  kF8E5M2,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  // NOLINTBEGIN(readability-identifier-naming): as the format spells them
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kIQ2_XXS,
  kIQ2_XS,
  kIQ2_S,
  kIQ3_XXS,
  kIQ3_S,
  kIQ1_S,
  kIQ1_M,
  kTQ1_0,
  kTQ2_0,
  kMXFP4,
  // NOLINTEND(readability-identifier-naming)
};

/// The last of them.
constexpr StoredType kLastStoredType = StoredType::kMXFP4;

/// What numbers are stored in: as many numbers (1 unless they are quantised) in as many bytes.
struct BlockShape {
  std::size_t numbers = 1;
  std::size_t bytes = 0;
};

/// "F32", "BF16", …, as the safetensors format writes it; "Q4_K", …, as the GGUF format does.
std::string_view stored_type_name(StoredType type) noexcept;
/// The type of that name; nothing when there is none.
std::optional<StoredType> stored_type_named(std::string_view name) noexcept;
/// What numbers of that type are stored in.
BlockShape stored_block(StoredType type) noexcept;
/// Whether numbers share a block.
bool is_quantised(StoredType type) noexcept;
/// Bytes of as many numbers. Precondition: they fill whole blocks, and a size_t holds the result.
std::size_t stored_bytes(StoredType type, std::size_t n_numbers) noexcept;

}  // namespace attnviz
