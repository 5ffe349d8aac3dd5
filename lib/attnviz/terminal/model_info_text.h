// What is in a model, on a terminal.
#pragma once

#include <string>

#include "attnviz/document/model_info.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Facts in words, then tables of parameters and of memory, in lines of which none is wider
/// than options.columns (at least 20 are assumed). TerminalStyle::kAscii: 7-bit. Throws what
/// text_memory() throws.
Page info_page(const ModelInfo& info, const TerminalOptions& options);

inline std::string render_info(const ModelInfo& info, const TerminalOptions& options) {
  return to_ansi(info_page(info, options), options.color);
}

}  // namespace attnviz
