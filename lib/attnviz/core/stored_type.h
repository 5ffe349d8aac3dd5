// How the numbers of a tensor are stored.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace attnviz {

/// How one number of a tensor is stored.
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
};

/// "F32", "BF16", …, as the safetensors format writes it.
std::string_view stored_type_name(StoredType type) noexcept;
/// The type of that name; nothing when there is none.
std::optional<StoredType> stored_type_named(std::string_view name) noexcept;
/// Bytes of one number.
std::size_t stored_type_size(StoredType type) noexcept;

}  // namespace attnviz
