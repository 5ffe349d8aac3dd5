// What a figure is painted on, and how its layout gets there.
#pragma once

#include <string>

#include "attnviz/render/canvas.h"
#include "attnviz/render/figure_layout.h"
#include "attnviz/render/figure_style.h"
#include "attnviz/render/figure_theme.h"
#include "attnviz/render/font.h"
#include "attnviz/render/heatmap.h"

namespace attnviz {

/// A sheet in the background's colour. The fonts of its style must outlive it.
struct FigureCanvas {
  Canvas canvas;
  TextRasterizer text;

  FigureCanvas(int width, int height, const FigureStyle& style);

  /// Panels, colour bar (unless it is empty), ticks and texts, where `layout` has them. `layout` is
  /// of `heatmap` in this style.
  void paint(const Heatmap& heatmap, const FigureLayout& layout, const FigureStyle& style);

  /// A PNG file that tells its resolution, the heatmap's title and facts, and the style.
  std::string png(const Heatmap& heatmap, const FigureStyle& style) const;
};

}  // namespace attnviz
