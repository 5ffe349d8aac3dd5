// The values, labels and colour scale that every picture of attention is drawn from, and its cells:
// if the weights outnumber the cells, each cell summarizes the weights under it.
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
  /// Whether a cell exists; masked cells look different from zero. Empty: every cell exists.
  std::function<bool(std::size_t query, std::size_t key)> visible = nullptr;
  /// Name of the mask ("causal"): panels with the same name have the same visible cells.
  std::string mask = {};
  /// For ScaleKind::kRowMax, where a row does not hold one query's weights: each value as a share
  /// of its query's largest, of the shape of `values`; a view. Empty: shares of the row's largest.
  ConstMatrix shares = {};
  /// For a matrix that was not kept, instead of `values`: returns its cells on a grid that was
  /// requested before the matrix was computed.
  std::function<PooledMatrix(const PoolGrid& grid)> pooled = nullptr;

  bool is_visible(std::size_t query, std::size_t key) const {
    return !visible || visible(query, key);
  }
};

/// A highlighted cell of a picture.
struct MarkedCell {
  std::size_t panel = 0;
  std::size_t row = 0;
  std::size_t column = 0;
};

/// The roles of the chat turns that labelled tokens belong to.
struct LabelRoles {
  std::vector<std::string> names;    // in order of appearance, as in messages
  std::vector<std::size_t> queries;  // [n_queries]: 1 + index of the name, 0: no role;
  std::vector<std::size_t> keys;     // empty, like the names, without a chat
};

/// One picture: panels that share labels and colour scale. Row = query, row 0 on top; column = key.
struct Heatmap {
  std::vector<HeatmapPanel> panels;       // at least one, all of one shape
  std::size_t panels_together = 1;        // size of a group to keep together, like a layer's heads
  std::vector<std::string> query_labels;  // [n_queries], raw pieces: views make them safe
  std::vector<std::string> key_labels;    // [n_keys]
  LabelRoles roles;
  EntryNumbers first_query = 0;  // numbers of the rows' tokens; then of the columns'
  EntryNumbers first_key = 0;
  std::string query_axis = "query (attending)";
  std::string key_axis = "key (attended to)";
  bool has_numbered_labels = false;  // "H3": labels contain their indices and need no list
  std::string value_name = "attention weight";  // along the colour bar
  std::string masked_name = "masked";           // label of cells that do not exist
  ColorScale scale;
  PoolKind pool = PoolKind::kAuto;
  /// Panels too small to read weights from: see is_coarse().
  bool are_thumbnails = false;
  bool queries_are_columns = false;
  std::optional<MarkedCell> marked;     // framed
  std::string title;                    // "attention: random weights (seed 42)"
  std::vector<std::string> notes;       // in the legend: "RANDOM WEIGHTS: …", "mask none"
  std::shared_ptr<const void> storage;  // keeps values alive that have no other owner; may be empty

  std::size_t n_queries() const noexcept { return query_labels.size(); }
  std::size_t n_keys() const noexcept { return key_labels.size(); }
};

/// Throws Error{kUsage} for a heatmap without cells, panels whose shape differs from the labels,
/// roles that do not match the labels, or a scale that cannot be drawn.
void check(const Heatmap& heatmap);

/// Marks the cell of the tokens with these numbers, if the picture has them.
void mark_cell(Heatmap& heatmap, std::size_t panel, std::size_t query, std::size_t key);

/// Returns the first panel of each mask, titled with the mask's name, and the panels without a mask
/// name, but only the first of these that shows every cell.
Heatmap one_panel_a_mask(const Heatmap& heatmap);

/// For ScaleKind::kRowMax: each weight of a row divided by its largest visible one, or the panel's
/// own shares. A row of zeros stays 0.
void row_shares(const HeatmapPanel& panel, std::size_t query, std::span<float> shares);

/// Whether cells of `block` weights a side are so coarse that their largest weight says nothing: 8
/// or more, for PoolKind::kAuto on a linear scale from 0 to 1 or more.
bool is_coarse(PoolKind pool, const ColorScale& scale, std::size_t block) noexcept;

/// Whether pool() shows how each query's attention is spread instead of weights: the means of
/// cells, each as a share of the largest mean of the same queries. True for coarse thumbnails.
bool is_coarse(const Heatmap& heatmap, const PoolAxis& queries, const PoolAxis& keys) noexcept;

/// How cells of thumbnails are computed from their weights: "the mean of up to 20 x 10 weights, as
/// a share of the largest mean of its queries".
std::string thumbnail_pooling(const Heatmap& heatmap, const PoolAxis& queries, const PoolAxis& keys,
                              std::string_view times);

/// The largest or mean visible weight under each cell, as heatmap.pool says. `queries` and `keys`
/// cut the axes of `panel`, one of the heatmap's; blocks of 1 copy it. With ScaleKind::kRowMax also
/// pools the shares from row_shares(). Memory: the cells, and one row. For a panel without values:
/// the result of panel.pooled.
PooledMatrix pool(const Heatmap& heatmap, const HeatmapPanel& panel, const PoolAxis& queries,
                  const PoolAxis& keys);

/// Whether rows of `n_panels` panels keep groups of `together` panels intact: each group begins a
/// row, or rows hold whole groups.
inline bool keeps_together(std::size_t n_panels, std::size_t together) noexcept {
  return n_panels % together == 0 || together % n_panels == 0;
}

}  // namespace attnviz
