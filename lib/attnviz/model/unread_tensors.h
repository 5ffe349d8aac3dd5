// Tensors of a model's files that were not read: harmless, unknown, or refused.
#pragma once

#include "attnviz/model/model.h"

namespace attnviz {

/// Records in the model's config the tensors that change nothing, with the reason, and unknown ones
/// outside of the layers, such as heads for other tasks. Throws Error{kUnsupported} naming an
/// unknown tensor of a layer: it may change what is computed.
void pass_over_tensors(Model& model);

}  // namespace attnviz
