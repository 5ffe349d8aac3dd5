// The sentences that an answer rests on, on a terminal.
#pragma once

#include <cstddef>

#include "attnviz/color/colormap.h"
#include "attnviz/document/cite_document.h"
#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// The answer, what it rests on in words, a table of the `top` sentences (0: all) and, where
/// sentences matter, the documents with these marked and shaded by what the answer loses when
/// they are hidden. Of many sentences only the paragraphs that hold such ones.
Page cite_page(const CiteDocument& document, std::size_t top, const Colormap& colormap,
               const TerminalOptions& options);

}  // namespace attnviz
