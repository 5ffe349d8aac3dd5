// Copying of rows, past the caches when they are of no use.
#pragma once

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// to = from, of the same shape; no overlap. `stream`: by stores that go past the caches, which is
/// faster for what is read again much later; every thread sees them when the call returns.
void copy(ConstMatrix from, Matrix to, bool stream) noexcept;

}  // namespace attnviz::kernels
