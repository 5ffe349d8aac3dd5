#include "attnviz/picture/layout/figure_swatches.h"

#include <cmath>

namespace attnviz {

namespace {

bool has_cell(const Heatmap& heatmap, const auto& is_meant) {
  for (std::size_t query = 0; query < heatmap.n_queries(); ++query) {
    for (std::size_t key = 0; key < heatmap.n_keys(); ++key) {
      if (is_meant(query, key)) {
        return true;
      }
    }
  }
  return false;
}

bool has_masked(const Heatmap& heatmap, const HeatmapPanel& panel) {
  return panel.visible && has_cell(heatmap, [&panel](std::size_t query, std::size_t key) {
           return !panel.visible(query, key);
         });
}

bool has_nan(const Heatmap& heatmap, const HeatmapPanel& panel) {
  return !panel.values.empty() && has_cell(heatmap, [&panel](std::size_t query, std::size_t key) {
    return std::isnan(panel.values(query, key)) && panel.is_visible(query, key);
  });
}

}  // namespace

FigureSwatches::FigureSwatches(const Heatmap& heatmap, const FigureStyle& style)
    : visible(style.cells == CellStyle::kMask) {
  for (const HeatmapPanel& panel : heatmap.panels) {
    masked = masked || has_masked(heatmap, panel);
    nan = nan || (!visible && has_nan(heatmap, panel));
  }
}

std::vector<std::string> FigureSwatches::names(const Heatmap& heatmap) const {
  std::vector<std::string> shown;
  if (visible) {
    shown.emplace_back(kSeen);
  }
  if (masked) {
    shown.push_back(heatmap.masked_name);
  }
  if (nan) {
    shown.emplace_back(kNan);
  }
  return shown;
}

}  // namespace attnviz
