// Keys of a model's files that were not read: harmless, unknown, or refused. Tensors of a model's
// files that were not read: harmless, unknown, or refused.
#pragma once

#include <string_view>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Records in the model's config the keys that were not read: harmless ones, with the reason, also
/// those of other architectures; and unknown ones, which llama.cpp has no names for. Throws
/// Error{kUnsupported} naming a key that may change what is computed: one that llama.cpp knows and
/// whose value is not 0, false, empty or known to be harmless.
void pass_over_keys(const GgufMetadata& metadata, Model& model);

/// As above, for a config.json, at all depths that were read; is_config_parameter() says which keys
/// are known. Architectures and code of other families are refused. Messages begin with `where`.
void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model);

/// Records in the model's config the tensors that change nothing, with the reason, and unknown ones
/// outside of the layers, such as heads for other tasks. Throws Error{kUnsupported} naming an
/// unknown tensor of a layer: it may change what is computed.
void pass_over_tensors(Model& model);

}  // namespace attnviz
