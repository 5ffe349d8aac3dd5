// Keys of a GGUF file's tokenizer that nobody reads.
#pragma once

#include "attnviz/core/unread.h"
#include "attnviz/formats/gguf_metadata.h"

namespace attnviz {

/// Those that nobody has asked for: harmless ones, each with why, and ones that llama.cpp has no
/// names for. Throws Error{kUnsupported} for one that it has, with a value other than 0, false and
/// those that are known to be harmless.
UnreadKeys unread_tokenizer_keys(const GgufMetadata& metadata);

}  // namespace attnviz
