#include "attnviz/document/head_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"

namespace attnviz {

Heatmap head_map(std::span<const HeadId> heads, std::span<const std::optional<double>> values,
                 std::string_view value_name) {
  const auto [first_head, last_head] = std::ranges::minmax(heads, {}, &HeadId::head);
  const auto [first, last] = std::ranges::minmax(heads, {}, &HeadId::layer);
  // Files give heads any numbers.
  constexpr std::size_t kMostCells = std::size_t{1} << 20;
  const std::size_t layers_behind = last.layer - first.layer;
  const std::size_t heads_behind = last_head.head - first_head.head;
  if (layers_behind >= kMostCells || heads_behind >= kMostCells / (layers_behind + 1)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a map of heads from {} to {} would have more than {} cells",
                            head_name({first.layer, first_head.head}),
                            head_name({last.layer, last_head.head}), kMostCells));
  }
  const std::size_t first_layer = first.layer;
  const std::size_t n_layers = layers_behind + 1;
  const std::size_t n_heads = heads_behind + 1;
  struct Cells {
    MatrixBuffer values;
    std::vector<bool> is_there;
  };
  const auto cells = std::make_shared<Cells>();
  cells->values = MatrixBuffer(n_layers, n_heads);
  cells->is_there.resize(n_layers * n_heads);
  double largest = 0.0;
  bool has_negative = false;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (values[i]) {
      const std::size_t row = heads[i].layer - first_layer;
      const std::size_t column = heads[i].head - first_head.head;
      cells->values.view()(row, column) = static_cast<float>(*values[i]);
      cells->is_there[row * n_heads + column] = true;
      largest = std::max(largest, std::abs(*values[i]));
      has_negative = has_negative || *values[i] < 0.0;
    }
  }
  Heatmap map;
  map.storage = cells;
  HeatmapPanel panel;
  panel.title = value_name;
  panel.values = std::as_const(cells->values).view();
  panel.visible = [cells, n_heads](std::size_t row, std::size_t column) {
    return cells->is_there[row * n_heads + column];
  };
  map.panels.push_back(std::move(panel));
  map.first_query = first_layer;
  for (std::size_t row = 0; row < n_layers; ++row) {
    map.query_labels.push_back(fmt::format("L{}", first_layer + row));
  }
  map.first_key = first_head.head;
  for (std::size_t column = 0; column < n_heads; ++column) {
    map.key_labels.push_back(fmt::format("H{}", first_head.head + column));
  }
  map.has_numbered_labels = true;
  map.query_axis = "layer";
  map.key_axis = "head";
  map.value_name = value_name;
  map.scale.high = static_cast<float>(largest > 0.0 ? largest : 1.0);
  if (has_negative) {
    set_scale_around_zero(map, largest);
  }
  return map;
}

void set_scale_around_zero(Heatmap& map, double largest) {
  map.scale.high = static_cast<float>(largest > 0.0 ? largest : 1.0);
  map.scale.low = -map.scale.high;
  map.scale.colormap = Colormap("blue-red");
}

}  // namespace attnviz
