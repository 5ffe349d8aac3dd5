// What a person hears of the keys and tensors of a model's files that nobody read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attnviz/core/unread.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenizer.h"
#include "options/options.h"

namespace attnviz::app {

/// Of the model `name`: says, unless quiet, which of them nothing is known of, the first few, or
/// all of them when it is to be verbose, and then also which are harmless, and why. Throws
/// Error{kUnsupported} where there are unknown ones and talk is strict.
void report_unread_keys(std::string_view name, std::span<const PassedOver> harmless,
                        std::span<const std::string> unknown, const TalkOptions& talk);

/// The same of a model.
void report_unread_keys(const ModelConfig& config, const TalkOptions& talk);

/// The same of a tokenizer's file, if it has one. Returns its unknown keys.
std::span<const std::string> report_unread_keys(std::string_view name, const Tokenizer& tokenizer,
                                                const TalkOptions& talk);

}  // namespace attnviz::app
