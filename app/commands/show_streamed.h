// show for attention that is too large to be kept, or need not be: written, and drawn together into
// pictures, while it is computed.
#pragma once

#include "commands/prepared_text.h"

namespace attnviz::app {

/// Whether a text is shown so: its overview, for which no pattern is needed whole; and patterns so
/// large that keeping them would cost more than doing without. Not where what is asked for cannot
/// do without: means, words, single tokens, variants side by side.
bool should_stream(const ShowSetup& setup, const PreparedText& text);

/// Throws Error{kUsage} before any work when there is not enough memory, or heads do not fit a
/// format; and whatever attention and outputs throw.
void show_streamed(ShowSetup& setup, PreparedText& text);

}  // namespace attnviz::app
