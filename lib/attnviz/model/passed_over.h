// What a model's files hold beside what was read, and whether that may be passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Notes in `config` the keys of the architecture that were read by nobody and change nothing, and
/// why; also those of other architectures. Throws Error{kUnsupported} that names a key of which
/// that is not known: it may change what is computed.
void pass_over_keys(const GgufMetadata& metadata, ModelConfig& config);

/// The same of a config.json, at all depths that were read; `where` stands in front of messages.
void pass_over_keys(const HfConfig& source, std::string_view where, ModelConfig& config);

/// The same of tensors, by their names in the files; `where` stands in front of messages.
void pass_over_tensors(const std::vector<std::string>& unread, std::string_view where,
                       ModelConfig& config);

}  // namespace attnviz
