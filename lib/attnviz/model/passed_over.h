// What a model's files hold beside what was read, and whether that may be passed over.
#pragma once

#include <string_view>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Notes in the model's config the keys that were read by nobody and change nothing, and why; also
/// those of other architectures. Throws Error{kUnsupported} that names a key of which that is not
/// known: it may change what is computed.
void pass_over_keys(const GgufMetadata& metadata, Model& model);

/// The same of a config.json, at all depths that were read; `where` stands in front of messages.
void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model);

/// The same of tensors.
void pass_over_tensors(Model& model);

}  // namespace attnviz
