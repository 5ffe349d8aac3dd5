// Why a model predicts what it does, on one screen.
#pragma once

#include <cstddef>

#include "attnviz/document/why_document.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// `top`: so many rows of each table, 0: all.
Page why_page(const WhyDocument& document, std::size_t top, const TerminalOptions& options);

}  // namespace attnviz
