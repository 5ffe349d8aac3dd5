// What is in a model, and the models on a machine, on a terminal.
#pragma once

#include <span>
#include <string>

#include "attnviz/document/model_info.h"
#include "attnviz/model/known_families.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Facts in words, then tables of parameters and of memory, in lines of which none is wider
/// than options.columns (at least 20 are assumed). TerminalStyle::kAscii: 7-bit. Throws what
/// text_memory() throws.
std::string render_info(const ModelInfo& info, const TerminalOptions& options);

/// A line a model, or two where its name is long; then what is wrong with some, and where was
/// looked. No line is wider than options.columns but for names and paths that are
/// (at least 40 are assumed). TerminalStyle::kAscii: 7-bit.
std::string render_model_list(const ModelList& list, const TerminalOptions& options);

/// A line a family: its names in files of either form, and what of such models is not read. No line
/// is wider than options.columns (at least 40 are assumed). TerminalStyle::kAscii: 7-bit.
std::string render_families(std::span<const KnownFamily> families, const TerminalOptions& options);

}  // namespace attnviz
