// Keys of a GGUF file's tokenizer that were not read.
#pragma once

#include "attnviz/core/unread.h"
#include "attnviz/formats/gguf_metadata.h"

namespace attnviz {

/// The keys that were not read: harmless ones, each with the reason, and unknown ones, which
/// llama.cpp has no names for. Throws Error{kUnsupported} for one that llama.cpp knows and whose
/// value is not 0, false, empty or known to be harmless.
UnreadKeys unread_tokenizer_keys(const GgufMetadata& metadata);

}  // namespace attnviz
