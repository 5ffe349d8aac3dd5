// Attention in each format that a file can have.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/render/attention_document.h"
#include "attnviz/render/figure_style.h"
#include "attnviz/render/heatmap.h"
#include "attnviz/render/terminal.h"
#include "options.h"

namespace attnviz::app {

/// Throws Error{kUsage} when the selection of heads does not fit the format. `picture` is the
/// document's.
void write_attention(OutputFormat format, const AttentionDocument& document, const Heatmap& picture,
                     const FigureStyle& figure, const TerminalOptions& terminal,
                     const ByteSink& sink);

}  // namespace attnviz::app
