// What is in a model, on a terminal.
#pragma once

#include <string>

#include "attnviz/document/model_info.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Facts in words, then tables of parameters and of memory, as lines ending in '\n', none wider
/// than options.columns (at least 20 are assumed). TerminalStyle::kAscii: 7-bit. With
/// ColorDepth::kNone there is no escape code. Throws what text_memory() throws.
std::string render_info(const ModelInfo& info, const TerminalOptions& options);

}  // namespace attnviz
