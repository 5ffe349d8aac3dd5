#include "attnviz/document/flat_note.h"

#include <fmt/core.h>

#include <cstddef>
#include <span>

namespace attnviz {

namespace {

constexpr float kFlatPart = 0.1f;

// Of the colours of a linear scale.
class Flatness {
 public:
  explicit Flatness(const ColorScale& scale)
      : limit_(scale.low + kFlatPart * (scale.high - scale.low)) {}

  void add(std::span<const float> values) noexcept {
    for (const float value : values) {
      n_values_ += value != 0.0f ? 1u : 0u;
      n_above_ += value >= limit_ ? 1u : 0u;
    }
  }

  std::string note() const {
    constexpr std::size_t kAllBut = 100;  // one weight of so many may lie above
    if (n_values_ == 0 || n_above_ * kAllBut > n_values_) {
      return {};
    }
    return fmt::format("nearly all weights are below {:.3g}: the scale log or row-max shows them",
                       limit_);
  }

 private:
  float limit_;
  std::size_t n_values_ = 0;
  std::size_t n_above_ = 0;
};

bool may_be_flat(const Heatmap& heatmap) {
  constexpr std::size_t kFewKeys = 32;  // their cells are large enough to be told apart
  return heatmap.scale.kind == ScaleKind::kLinear && heatmap.n_keys() > kFewKeys;
}

}  // namespace

std::string flat_note(const Heatmap& heatmap) {
  if (!may_be_flat(heatmap)) {
    return {};
  }
  Flatness flatness(heatmap.scale);
  for (const HeatmapPanel& panel : heatmap.panels) {
    for (std::size_t row = 0; row < panel.values.rows; ++row) {
      flatness.add(panel.values.row(row));
    }
  }
  return flatness.note();
}

std::string flat_note(const Heatmap& heatmap, const PoolGrid& grid) {
  if (!may_be_flat(heatmap)) {
    return {};
  }
  Flatness flatness(heatmap.scale);
  for (const HeatmapPanel& panel : heatmap.panels) {
    flatness.add(pool(heatmap, panel, grid.queries, grid.keys).values);
  }
  return flatness.note();
}

}  // namespace attnviz
