// When a deep model is drawn as an overview: all of its heads small, the most informative one
// large. When attention is drawn as lines between tokens, and of which heads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/document/attention_document.h"
#include "options/options.h"
#include "outputs/formats/formats.h"
#include "outputs/outputs.h"
#include "system/talk.h"

namespace attnviz::app {

/// More heads than these, of several layers, are drawn as an overview: as panels with labels they
/// would be too small to read, or too many to look at.
constexpr std::size_t kMostHeadsAsPanels = 12;

/// Whether the heads are drawn as an overview: several layers and more than kMostHeadsAsPanels
/// heads, when nothing was said of which heads, of means or of one token, and a picture or a
/// drawing is written. The masks of --style mask are drawn once each anyway.
bool draws_overview(const std::vector<HeadId>& heads, const HeadOptions& asked,
                    const PatternOptions& pattern, StyleChoice style, const Outputs& outputs);

/// Patterns that are kept, as they are shown: as an overview one document that draws_overview() and
/// that was not drawn otherwise before, unless it has no attention weights; as lines, of more heads
/// than one picture tells apart those of the most informative one, where none were chosen; all else
/// as panels. Throws as arcs_figure(), and Error{kUsage} for the lines of too many heads or of
/// scores.
ShownAttention shown_attention(std::span<const AttentionDocument> documents,
                               const HeadOptions& asked, const PatternOptions& pattern,
                               StyleChoice style, const Outputs& outputs);

/// The head that a page shows first, and why: the most informative one, where there are weights of
/// heads to judge.
std::optional<FirstShown> first_shown(const ShownAttention& shown);

/// Says which options of the drawing change nothing where it goes.
void tell_unused_drawing(const Outputs& outputs, const DrawingOptions& drawing,
                         const TalkOptions& talk);

/// The same where one token's attention is drawn as bars, which have a scale of their own.
void tell_unused_of_bars(const ShownAttention& shown, const Outputs& outputs, Teller& teller);

/// The same of --no-special where no document has such tokens.
void tell_nothing_special(std::span<const AttentionDocument> documents, Teller& teller);

/// Whether the style asks for lines, and a picture or a drawing is written.
bool writes_arcs(StyleChoice style, const Outputs& outputs);

}  // namespace attnviz::app
