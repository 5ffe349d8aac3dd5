// Tensors of a model's files that nobody read: harmless, unknown, or refused.
#pragma once

#include "attnviz/model/model.h"

namespace attnviz {

/// Notes in the model's config the tensors that change nothing, and why, and those outside of its
/// layers that nothing is known of, as heads for other tasks have. Throws Error{kUnsupported} that
/// names one of a layer: it may change what is computed.
void pass_over_tensors(Model& model);

}  // namespace attnviz
