// The models on a machine as a table for people.
#pragma once

#include <string>

#include "attnviz/document/model_list.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A line a model, or two where its name is long; then what is wrong with some, and where was
/// looked. Lines end in '\n'; none is wider than options.columns but for names and paths that are
/// (at least 40 are assumed). TerminalStyle::kAscii: 7-bit. With ColorDepth::kNone there is no
/// escape code.
std::string render_model_list(const ModelList& list, const TerminalOptions& options);

}  // namespace attnviz
