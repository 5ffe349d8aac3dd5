#include "attnviz/document/heatmap.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"

namespace attnviz {

void check(const Heatmap& heatmap) {
  if (heatmap.panels.empty() || heatmap.n_queries() == 0 || heatmap.n_keys() == 0) {
    throw Error(ErrorKind::kUsage, "picture: nothing to draw (no panel, query or key)");
  }
  check(heatmap.scale);
  for (const HeatmapPanel& panel : heatmap.panels) {
    if (panel.pooled) {
      continue;
    }
    if (panel.values.rows != heatmap.n_queries() || panel.values.cols != heatmap.n_keys()) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("picture: {}: expected [{}, {}] weights, found [{}, {}]", panel.title,
                      heatmap.n_queries(), heatmap.n_keys(), panel.values.rows, panel.values.cols));
    }
  }
}

}  // namespace attnviz
