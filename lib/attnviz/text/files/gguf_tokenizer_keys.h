// Keys of a GGUF file's tokenizer that change nothing.
#pragma once

#include <vector>

#include "attnviz/core/unread.h"
#include "attnviz/formats/gguf_metadata.h"

namespace attnviz {

/// Those that nobody has asked for, each with why that is harmless. Throws Error{kUnsupported} for
/// one of which that is not known.
std::vector<PassedOver> pass_over_tokenizer_keys(const GgufMetadata& metadata);

}  // namespace attnviz
