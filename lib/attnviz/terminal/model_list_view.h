// The models on a machine as a table for people.
#pragma once

#include <string>

#include "attnviz/document/model_list.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A line a model, or two where its name is long; then what is wrong with some, and where was
/// looked. No line is wider than options.columns but for names and paths that are
/// (at least 40 are assumed). TerminalStyle::kAscii: 7-bit.
Page model_list_page(const ModelList& list, const TerminalOptions& options);

inline std::string render_model_list(const ModelList& list, const TerminalOptions& options) {
  return to_ansi(model_list_page(list, options), options.color);
}

}  // namespace attnviz
