// Line charts as a scene.
#pragma once

#include "attnviz/document/lessons/line_chart.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Title, charts beside each other as far as they fit, and notes. Each chart has its title, a frame
/// with ticks and faint lines across, the names of its axes, and each line's name at its end.
/// Throws Error{kUsage} for a style that check() refuses and as check_size().
Scene chart_scene(const ChartFigure& figure, const FigureStyle& style = {});

}  // namespace attnviz
