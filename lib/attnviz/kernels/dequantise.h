// Quantised numbers as floats.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/stored_type.h"

namespace attnviz::kernels {

/// Numbers [first, first + to.size()) of those whose first block lies at `blocks`, which may be any
/// address. The bits are those that the format's reference implementation computes.
/// Preconditions: is_quantised(type); all blocks that the numbers lie in are there.
void dequantise(StoredType type, const void* blocks, std::size_t first,
                std::span<float> to) noexcept;

}  // namespace attnviz::kernels
