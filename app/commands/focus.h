// The token that --focus names.
#pragma once

#include <optional>

#include "attnviz/document/attention_document.h"
#include "attnviz/text/tokenized_text.h"
#include "options/options.h"

namespace attnviz::app {

/// Nothing when there is no --focus; says which of several tokens was taken, unless quiet. Throws
/// Error{kUsage} when there is no such token. Precondition: the text has tokens.
std::optional<Focus> chosen_focus(const PatternOptions& options, const TokenizedText& text,
                                  const TalkOptions& talk);

}  // namespace attnviz::app
