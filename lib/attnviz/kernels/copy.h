// Copying of rows, past the caches when they are of no use.
#pragma once

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// to = from, of the same shape; no overlap. `stream`: by stores that go past the caches, which is
/// faster for what is read again much later; every thread sees them when the call returns.
void copy(ConstMatrix from, Matrix to, bool stream) noexcept;

/// What this thread stored past the caches is seen by every thread that sees what it stores next.
/// Waits until those stores have arrived.
void flush_streams() noexcept;

}  // namespace attnviz::kernels
