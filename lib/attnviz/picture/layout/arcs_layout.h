// Attention as lines between two columns of tokens, as a scene.
#pragma once

#include "attnviz/document/arcs_figure.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Title, the colours of the groups, panels beside each other as far as they fit, what widths and
/// opacities stand for, and notes. style.cell is the distance of two tokens; without it these stand
/// as far apart as a picture of a usual size allows, at least a pixel. Throws Error{kUsage} for a
/// style that check() refuses and as check_size().
Scene arcs_scene(const ArcsFigure& figure, const FigureStyle& style = {});

}  // namespace attnviz
