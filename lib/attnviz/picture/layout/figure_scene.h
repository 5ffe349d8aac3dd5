// Figures of attention as scenes.
#pragma once

#include "attnviz/document/heatmap.h"
#include "attnviz/document/overview.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// A grid of panels with titles, labels, named axes and one colour bar. Throws Error{kUsage} for
/// what check() refuses, and as lay_out_figure.
Scene figure_scene(const Heatmap& heatmap, const FigureStyle& style = {});

/// The thumbnails, the chosen one framed, and the chosen head large, as figure_scene draws one.
/// Throws as figure_scene.
Scene overview_scene(const Overview& overview, const FigureStyle& style = {});

}  // namespace attnviz
