// One token's attention as a scene of bars.
#pragma once

#include "attnviz/document/heatmap.h"
#include "attnviz/document/patterns/focus_bars.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Title, lists of bars beside each other as far as they fit, and notes. A list is of one head: a
/// row for each token in the order of the text, with its label (once for all lists of a band), its
/// bar and its percentage; all bars have one scale. `focus` is a picture made by focus_heatmap.
/// Throws Error{kUsage} for a style that check() refuses, and as check_size().
Scene bars_scene(const Heatmap& focus, const BarsSubject& subject, const FigureStyle& style = {});

}  // namespace attnviz
