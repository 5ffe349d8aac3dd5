// What a figure is painted on, and how its layout gets there.
#pragma once

#include <string>

#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/layout/figure_theme.h"
#include "attnviz/picture/raster/canvas.h"
#include "attnviz/picture/raster/text_rasterizer.h"

namespace attnviz {

/// A sheet in the background's colour. The fonts of its style must outlive it.
struct FigureCanvas {
  Canvas canvas;
  TextRasterizer text;

  FigureCanvas(int width, int height, const FigureStyle& style);

  /// Panels, colour bar (unless it is empty), ticks and texts, where `layout` has them. `layout` is
  /// of `heatmap` in this style.
  void paint(const Heatmap& heatmap, const FigureLayout& layout, const FigureStyle& style);

  /// A PNG file that tells its resolution, its title, `facts` and the style.
  std::string png(const std::string& title, std::string facts, const FigureStyle& style) const;
};

}  // namespace attnviz
