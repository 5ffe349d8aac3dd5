// The types of tensors in GGUF files, by their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attnviz/core/stored_type.h"
#include "attnviz/formats/stored_tensor.h"

namespace attnviz {

/// What ggml calls the type of that number, whether attnviz reads it or not ("Q4_0_4_4"); nothing
/// for a number that never was a type.
std::string_view ggml_type_name(std::uint32_t number) noexcept;

/// The type that attnviz reads by that number; nothing when it reads none.
std::optional<StoredType> ggml_stored_type(std::uint32_t number) noexcept;

/// The mix of types that `general.file_type` numbers ("Q4_K_M"); empty for a number that none has.
std::string_view gguf_file_type_name(std::uint32_t number) noexcept;

/// The bytes of a tensor in the other byte order: halves, scales and numbers of their own are
/// turned, quants stay as they are.
std::vector<char> turned_bytes(const StoredTensor& tensor);

}  // namespace attnviz
