// Reports the keys and tensors of a model's files that were not read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attnviz/core/unread.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenizer.h"
#include "options/options.h"

namespace attnviz::app {

/// Warns, unless quiet, about the unknown ones of the model `name`: the first few, or with
/// --verbose all of them and also the harmless ones, with the reason. Throws Error{kUnsupported} if
/// there are unknown ones and talk is strict.
void report_unread_keys(std::string_view name, std::span<const PassedOver> harmless,
                        std::span<const std::string> unknown, const TalkOptions& talk);

/// As above, for a model.
void report_unread_keys(const ModelConfig& config, const TalkOptions& talk);

/// As above, for the file of a model's tokenizer, if it has one; its unknown keys become the
/// model's.
void report_unread_keys(ModelConfig& config, const Tokenizer& tokenizer, const TalkOptions& talk);
/// The same of keys that are known already.
void report_unread_keys(ModelConfig& config, std::span<const PassedOver> harmless,
                        std::span<const std::string> unknown, const TalkOptions& talk);

/// As above, for a tokenizer without a model.
void report_unread_keys(std::string_view name, const Tokenizer& tokenizer, const TalkOptions& talk);

}  // namespace attnviz::app
