// When attention is drawn as lines between tokens, and of which heads.
#pragma once

#include <optional>
#include <span>

#include "attnviz/document/arcs_figure.h"
#include "attnviz/document/attention_document.h"
#include "options/options.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// Whether the style asks for lines, and a picture or a drawing is written.
bool writes_arcs(StyleChoice style, const Outputs& outputs);

/// The lines, where there are some to write. Of more heads
/// than one picture tells apart the most telling one, where none were chosen and there are weights
/// to judge; else throws Error{kUsage}, and as arcs_figure().
std::optional<ArcsFigure> chosen_arcs(std::span<const AttentionDocument> documents,
                                      const HeadOptions& asked, StyleChoice style,
                                      const Outputs& outputs);

}  // namespace attnviz::app
