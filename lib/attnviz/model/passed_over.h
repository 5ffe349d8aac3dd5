// What a model's files hold beside what was read: harmless, unknown, or refused.
#pragma once

#include <string_view>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Notes in the model's config the keys that nobody read: those that change nothing, and why, also
/// those of other architectures; and those that nothing is known of, for llama.cpp has none of that
/// name. Throws Error{kUnsupported} that names a key which may change what is computed: one that
/// llama.cpp knows, with a value other than 0, false and those that are known to be harmless.
void pass_over_keys(const GgufMetadata& metadata, Model& model);

/// The same of a config.json, at all depths that were read: known is what is_config_parameter()
/// knows. Architectures and code of others are refused. `where` stands in front of messages.
void pass_over_keys(const HfConfig& source, std::string_view where, const Family& family,
                    Model& model);

}  // namespace attnviz
