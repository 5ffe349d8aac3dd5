#include "attnviz/report/heatmap.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Pools rows of weights into one grid of cells.
class CellPool {
 public:
  CellPool(PoolKind kind, std::size_t n_cells) : kind_(kind), values_(n_cells, 0.0f) {
    if (kind == PoolKind::kMean) {
      sums_.assign(n_cells, 0.0);
      counts_.assign(n_cells, 0);
    }
  }

  // Whether a weight would not change the cell; `seen`: the cell has visible weights already.
  bool ignores(std::size_t cell, float weight, bool seen) const noexcept {
    const float largest = values_[cell];  // NaN replaces everything and stays
    return kind_ != PoolKind::kMean && seen && (std::isnan(largest) || weight <= largest);
  }

  void take(std::size_t cell, float weight) noexcept {
    if (kind_ != PoolKind::kMean) {
      values_[cell] = weight;
    } else {
      sums_[cell] += static_cast<double>(weight);
      ++counts_[cell];
    }
  }

  std::vector<float> result() {
    for (std::size_t cell = 0; cell < sums_.size(); ++cell) {
      if (counts_[cell] > 0) {
        values_[cell] = static_cast<float>(sums_[cell] / static_cast<double>(counts_[cell]));
      }
    }
    return std::move(values_);
  }

 private:
  PoolKind kind_;
  std::vector<float> values_;
  std::vector<double> sums_;
  std::vector<std::size_t> counts_;
};

}  // namespace

void check(const Heatmap& heatmap) {
  if (heatmap.panels.empty() || heatmap.n_queries() == 0 || heatmap.n_keys() == 0) {
    throw Error(ErrorKind::kUsage, "picture: nothing to draw (no panel, query or key)");
  }
  check(heatmap.scale);
  if (!heatmap.roles.names.empty() && (heatmap.roles.queries.size() != heatmap.n_queries() ||
                                       heatmap.roles.keys.size() != heatmap.n_keys())) {
    throw Error(ErrorKind::kUsage, "picture: expected a role for every label");
  }
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

void mark_cell(Heatmap& heatmap, std::size_t panel, std::size_t query, std::size_t key) {
  const auto place_of = [](const EntryNumbers& numbers, std::size_t size, std::size_t number) {
    std::size_t place = 0;
    while (place < size && numbers.of(place) != number) {
      ++place;
    }
    return place;
  };
  const bool turned = heatmap.queries_are_columns;
  const MarkedCell cell{panel,
                        place_of(heatmap.first_query, heatmap.n_queries(), turned ? key : query),
                        place_of(heatmap.first_key, heatmap.n_keys(), turned ? query : key)};
  if (cell.row < heatmap.n_queries() && cell.column < heatmap.n_keys()) {
    heatmap.marked = cell;
  }
}

Heatmap one_panel_a_mask(const Heatmap& heatmap) {
  Heatmap masks = heatmap;
  masks.panels.clear();
  masks.panels_together = 1;
  masks.marked.reset();
  std::set<std::string> names;
  bool shows_all = false;  // whether a fully visible unnamed panel was taken
  for (const HeatmapPanel& panel : heatmap.panels) {
    const bool is_new = panel.mask.empty() ? panel.visible != nullptr || !shows_all
                                           : names.insert(panel.mask).second;
    if (is_new) {
      shows_all = shows_all || panel.visible == nullptr;
      masks.panels.push_back(panel);
      if (!panel.mask.empty()) {
        masks.panels.back().title = "mask " + panel.mask;
      }
    }
  }
  return masks;
}

void row_shares(const HeatmapPanel& panel, std::size_t query, std::span<float> shares) {
  if (!panel.shares.empty()) {
    const auto row = panel.shares.row(query);
    std::copy(row.begin(), row.end(), shares.begin());
    return;
  }
  float largest = 0.0f;
  for (std::size_t key = 0; key < shares.size(); ++key) {
    const float weight = panel.values(query, key);
    if (weight > largest && panel.is_visible(query, key)) {
      largest = weight;
    }
  }
  for (std::size_t key = 0; key < shares.size(); ++key) {
    const float weight = panel.values(query, key);
    shares[key] = largest > 0.0f ? weight / largest : weight;
  }
}

bool is_coarse(PoolKind pool, const ColorScale& scale, std::size_t block) noexcept {
  constexpr std::size_t kCoarseBlock = 8;
  return pool == PoolKind::kAuto && scale.kind == ScaleKind::kLinear && scale.low == 0.0f &&
         scale.high >= 1.0f && block >= kCoarseBlock;
}

bool is_coarse(const Heatmap& heatmap, const PoolAxis& queries, const PoolAxis& keys) noexcept {
  return heatmap.are_thumbnails &&
         is_coarse(heatmap.pool, heatmap.scale, std::max(queries.block, keys.block));
}

std::string thumbnail_pooling(const Heatmap& heatmap, const PoolAxis& queries, const PoolAxis& keys,
                              std::string_view times) {
  const bool coarse = is_coarse(heatmap, queries, keys);
  const std::string n_queries =
      fmt::format("{} {}", queries.block, queries.block == 1 ? "query" : "queries");
  const std::string n_keys = counted(keys.block, "key");
  return fmt::format("the {} weight of up to {} {} {}{}",
                     pool_name(coarse ? PoolKind::kMean : heatmap.pool), n_queries, times, n_keys,
                     coarse ? ", as a share of the largest mean of its queries" : "");
}

namespace {

// Divides cells by the largest of the same queries, scaled to the end of the colour scale.
void set_query_shares(PooledMatrix& cells, bool queries_are_columns, float end) {
  const std::size_t n_queries = queries_are_columns ? cells.cols : cells.rows;
  std::vector<float> largest(n_queries, 0.0f);
  const auto query_of = [&](std::size_t cell) {
    return queries_are_columns ? cell % cells.cols : cell / cells.cols;
  };
  for (std::size_t cell = 0; cell < cells.values.size(); ++cell) {
    float& most = largest[query_of(cell)];
    most = std::max(most, cells.values[cell]);
  }
  cells.shares.resize(cells.values.size());
  for (std::size_t cell = 0; cell < cells.values.size(); ++cell) {
    const float most = largest[query_of(cell)];
    cells.shares[cell] = most > 0.0f ? cells.values[cell] / most * end : cells.values[cell];
  }
}

// Copies weights to cells of one weight each.
void take_weights(const HeatmapPanel& panel, bool by_row, PooledMatrix& cells) {
  cells.values.assign(cells.visible.size(), 0.0f);
  cells.shares.assign(by_row ? cells.visible.size() : 0, 0.0f);
  std::vector<float> shares(by_row ? cells.cols : 0);
  for (std::size_t query = 0, cell = 0; query < cells.rows; ++query) {
    if (by_row) {
      row_shares(panel, query, shares);
    }
    const std::span<const float> weights = panel.values.row(query);
    for (std::size_t key = 0; key < cells.cols; ++key, ++cell) {
      if (!panel.is_visible(query, key)) {
        continue;
      }
      cells.visible[cell] = 1;
      cells.values[cell] = weights[key];
      if (by_row) {
        cells.shares[cell] = shares[key];
      }
    }
  }
}

PooledMatrix pooled_cells(const Heatmap& heatmap, const HeatmapPanel& panel, PoolKind kind,
                          const PoolAxis& queries, const PoolAxis& keys) {
  if (panel.pooled) {
    return panel.pooled({queries, keys});
  }
  PooledMatrix pooled{queries.cells(), keys.cells(), {}, {}, {}};
  const std::size_t n_cells = checked_product({pooled.rows, pooled.cols}, "cells of a picture");
  const bool by_row = heatmap.scale.kind == ScaleKind::kRowMax;
  pooled.visible.assign(n_cells, 0);
  if (!queries.pooled() && !keys.pooled()) {
    take_weights(panel, by_row, pooled);
    return pooled;
  }
  CellPool values(kind, n_cells);
  CellPool shares(kind, by_row ? n_cells : 0);
  std::vector<float> row(by_row ? keys.size : 0);
  std::vector<std::size_t> ends(pooled.cols);
  for (std::size_t column = 0; column < ends.size(); ++column) {
    ends[column] = keys.end(column);
  }
  for (std::size_t query = 0; query < queries.size; ++query) {
    const std::size_t first_cell = queries.cell_of(query) * pooled.cols;
    if (by_row) {
      row_shares(panel, query, row);
    }
    for (std::size_t column = 0, key = 0; column < pooled.cols; ++column) {
      const std::size_t cell = first_cell + column;
      for (; key < ends[column]; ++key) {
        const float weight = panel.values(query, key);
        const bool seen = pooled.visible[cell] != 0;
        const bool value_stays = values.ignores(cell, weight, seen);
        const bool share_stays = !by_row || shares.ignores(cell, row[key], seen);
        // Checking visibility is slow, so it is done only if the weight would change the cell.
        if ((value_stays && share_stays) || !panel.is_visible(query, key)) {
          continue;
        }
        if (!value_stays) {
          values.take(cell, weight);
        }
        if (!share_stays) {
          shares.take(cell, row[key]);
        }
        pooled.visible[cell] = 1;
      }
    }
  }
  pooled.values = values.result();
  if (by_row) {
    pooled.shares = shares.result();
  }
  return pooled;
}

}  // namespace

PooledMatrix pool(const Heatmap& heatmap, const HeatmapPanel& panel, const PoolAxis& queries,
                  const PoolAxis& keys) {
  const bool coarse = is_coarse(heatmap, queries, keys);
  PooledMatrix cells =
      pooled_cells(heatmap, panel, coarse ? PoolKind::kMean : heatmap.pool, queries, keys);
  if (coarse) {
    set_query_shares(cells, heatmap.queries_are_columns, heatmap.scale.high);
  }
  return cells;
}

}  // namespace attnviz
