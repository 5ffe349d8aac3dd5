// What every picture of attention is made from: values, labels, colour scale; and its cells, each
// of which stands for the weights under it where there are more than cells.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/color/colormap.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// One head (or other matrix) to draw.
struct HeatmapPanel {
  std::string title;   // "L0H3"
  ConstMatrix values;  // [n_queries, n_keys]; a view
  /// Whether a cell exists; masked cells are drawn apart from zero. Empty: every cell does.
  std::function<bool(std::size_t query, std::size_t key)> visible = nullptr;
  /// Name of who may see whom ("causal"): panels that share it have the same visible cells.
  std::string mask = {};
  /// For ScaleKind::kRowMax where a row is not one query's weights: each value's share of the
  /// largest of its query, of the shape of `values`; a view. Empty: of the largest in its row.
  ConstMatrix shares = {};
  /// Of a matrix that nobody kept, in place of `values`: its cells, for the grids that were asked
  /// for before it was computed.
  std::function<PooledMatrix(const PoolGrid& grid)> pooled = nullptr;

  bool is_visible(std::size_t query, std::size_t key) const {
    return !visible || visible(query, key);
  }
};

/// A cell of a picture that is meant, whatever stands around it.
struct MarkedCell {
  std::size_t panel = 0;
  std::size_t row = 0;
  std::size_t column = 0;
};

/// Whose turn of a chat the tokens of labels are.
struct LabelRoles {
  std::vector<std::string> names;    // in order of appearance, as messages have them
  std::vector<std::size_t> queries;  // [n_queries]: 1 + the place among the names, 0: nobody's;
  std::vector<std::size_t> keys;     // empty, with the names, where there is no chat
};

/// One picture: panels that share labels and colour scale. Row = query, row 0 on top; column = key.
struct Heatmap {
  std::vector<HeatmapPanel> panels;       // at least one, all of one shape
  std::size_t panels_together = 1;        // a group, as a layer's heads: kept in rows of its own
  std::vector<std::string> query_labels;  // [n_queries], raw pieces: views make them safe
  std::vector<std::string> key_labels;    // [n_keys]
  LabelRoles roles;
  EntryNumbers first_query = 0;  // the tokens that rows stand for, and columns
  EntryNumbers first_key = 0;
  std::string query_axis = "query (attending)";
  std::string key_axis = "key (attended to)";
  bool has_numbered_labels = false;             // "H3": they say their indices, which need no list
  std::string value_name = "attention weight";  // along the colour bar
  std::string masked_name = "masked";           // of cells that do not exist
  ColorScale scale;
  PoolKind pool = PoolKind::kAuto;
  /// Panels too small to read weights from: see is_coarse().
  bool are_thumbnails = false;
  bool queries_are_columns = false;
  std::optional<MarkedCell> marked;     // framed
  std::string title;                    // "attention: random weights (seed 42)"
  std::vector<std::string> notes;       // said in the legend: "RANDOM WEIGHTS: …", "mask causal"
  std::shared_ptr<const void> storage;  // keeps values alive that nobody else owns; may be empty

  std::size_t n_queries() const noexcept { return query_labels.size(); }
  std::size_t n_keys() const noexcept { return key_labels.size(); }
};

/// Throws Error{kUsage} for a heatmap without cells, with panels of another shape than the labels,
/// or with a scale that cannot be drawn.
void check(const Heatmap& heatmap);

/// Marks the cell of the tokens that go by these numbers, unless the picture does not have them.
void mark_cell(Heatmap& heatmap, std::size_t panel, std::size_t query, std::size_t key);

/// Its first panel of each mask, called so, and those whose mask nobody knows.
Heatmap one_panel_a_mask(const Heatmap& heatmap);

/// For ScaleKind::kRowMax: each weight of a row over its largest visible one, or as the panel says.
/// Of all 0: 0.
void row_shares(const HeatmapPanel& panel, std::size_t query, std::span<float> shares);

/// Whether cells of `block` weights a side are too coarse for the largest of them to tell anything:
/// of PoolKind::kAuto, on a linear scale from 0 to 1 or more, 8 or more.
bool is_coarse(PoolKind pool, const ColorScale& scale, std::size_t block) noexcept;

/// Whether `pool` of such cells tells how each query's attention is spread, in place of weights:
/// means, and as shares each over the largest of the same queries. So it is for coarse thumbnails.
bool is_coarse(const Heatmap& heatmap, const PoolAxis& queries, const PoolAxis& keys) noexcept;

/// What the cells of thumbnails are of the weights under them: "mean of up to 20 x 10 weights, as a
/// share of the largest of its query".
std::string thumbnail_pooling(const Heatmap& heatmap, const PoolAxis& queries, const PoolAxis& keys,
                              std::string_view times);

/// The largest, or the mean, of the visible weights under each cell, as heatmap.pool says.
/// `queries` and `keys` cut the axes of `panel`, one of the heatmap's; blocks of 1 copy it. With
/// ScaleKind::kRowMax the shares too: pooled from row_shares. Memory: the cells, and one row. Of a
/// panel without values: what panel.pooled gives.
PooledMatrix pool(const Heatmap& heatmap, const HeatmapPanel& panel, const PoolAxis& queries,
                  const PoolAxis& keys);

/// Whether in rows of `n_panels` every group of `together` panels begins a row, or rows hold whole
/// groups.
inline bool keeps_together(std::size_t n_panels, std::size_t together) noexcept {
  return n_panels % together == 0 || together % n_panels == 0;
}

}  // namespace attnviz
