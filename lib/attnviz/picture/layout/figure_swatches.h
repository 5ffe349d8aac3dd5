// Which colours the legend of a heatmap's figure names besides the scale's.
#pragma once

#include <string>
#include <vector>

#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

struct FigureSwatches {
  static constexpr const char* kSeen = "sees";
  static constexpr const char* kNan = "not a number";

  bool visible = false;  // cells that exist, where that is all they show
  bool masked = false;   // cells that do not
  bool nan = false;      // visible cells without a number

  FigureSwatches(const Heatmap& heatmap, const FigureStyle& style);

  /// What stands beside those that are shown.
  std::vector<std::string> names(const Heatmap& heatmap) const;
};

}  // namespace attnviz
