#include "attnviz/render/flat_note.h"

#include <fmt/core.h>

#include <cstddef>

namespace attnviz {

std::string flat_note(const Heatmap& heatmap) {
  constexpr std::size_t kFewKeys = 32;  // their cells are large enough to be told apart
  constexpr float kFlatPart = 0.1f;
  constexpr std::size_t kAllBut = 100;  // one weight of so many may lie above
  const ColorScale& scale = heatmap.scale;
  if (scale.kind != ScaleKind::kLinear || heatmap.n_keys() <= kFewKeys) {
    return {};
  }
  const float limit = scale.low + kFlatPart * (scale.high - scale.low);
  std::size_t n_weights = 0;
  std::size_t n_above = 0;
  for (const HeatmapPanel& panel : heatmap.panels) {
    for (std::size_t row = 0; row < panel.values.rows; ++row) {
      for (const float weight : panel.values.row(row)) {
        n_weights += weight != 0.0f ? 1 : 0;
        n_above += weight >= limit ? 1 : 0;
      }
    }
  }
  if (n_weights == 0 || n_above * kAllBut > n_weights) {
    return {};
  }
  return fmt::format(
      "nearly all weights are below {:.3g}: --scale log or --scale row-max shows them", limit);
}

}  // namespace attnviz
