// One query on a terminal: numbered steps, a table of keys, numbers that are the same at any width.
#pragma once

#include <string>

#include "attnviz/document/steps/inspection_document.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// The page in lines of which none is wider than options.columns (at least 20 are assumed).
/// Tables that are too wide go on below; vectors that are too long are shown by their first and
/// last numbers and the count of those between. TerminalStyle::kAscii: 7-bit; every other style:
/// signs such as · and √. Precondition: page.full needs the heads' matrices over all queries.
Page inspection_screen(const InspectionPage& page, const TerminalOptions& options);

inline std::string render_inspection(const InspectionPage& page, const TerminalOptions& options) {
  return to_ansi(inspection_screen(page, options), options.color);
}

}  // namespace attnviz
