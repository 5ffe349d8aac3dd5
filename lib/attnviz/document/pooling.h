// Matrices larger than the picture: each cell of a coarser grid stands for the weights under it.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/analysis/pool_grid.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// For ScaleKind::kRowMax: each weight of a row over its largest visible one, or as the panel says.
/// Of all 0: 0.
void row_shares(const HeatmapPanel& panel, std::size_t query, std::span<float> shares);

/// The largest, or the mean, of the visible weights under each cell, as heatmap.pool says.
/// `queries` and `keys` cut the axes of `panel`, one of the heatmap's; blocks of 1 copy it. With
/// ScaleKind::kRowMax the shares too: pooled from row_shares. Memory: the cells, and one row. Of a
/// panel without values: what panel.pooled gives.
PooledMatrix pool(const Heatmap& heatmap, const HeatmapPanel& panel, PoolAxis queries,
                  PoolAxis keys);

}  // namespace attnviz
