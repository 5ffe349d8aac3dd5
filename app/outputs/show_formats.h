// Attention in each format that a file can have.
#pragma once

#include <span>
#include <string>

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "options/options.h"

namespace attnviz::app {

/// What stands before the weights in a NumPy array of the document's patterns. Throws Error{kUsage}
/// when these are no rectangle of layers and heads.
std::string npy_header_of(const AttentionDocument& document);

/// What stands below a drawing: how the text goes on, and what the documents predict; may be empty.
std::string drawn_next_tokens(std::span<const AttentionDocument> documents,
                              const TerminalOptions& terminal);

/// Throws Error{kUsage} when the selection of heads does not fit the format. `picture` is the
/// documents'; a NumPy array takes the first one, JSON a line each.
void write_attention(OutputFormat format, std::span<const AttentionDocument> documents,
                     const Heatmap& picture, const FigureStyle& figure,
                     const TerminalOptions& terminal, const ByteSink& sink);

}  // namespace attnviz::app
