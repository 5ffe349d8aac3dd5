#include "attnviz/analysis/pooled_patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// Adds the keys in [first_key, end_key) that a query sees to the cells of its row, whose keys begin
// at token `first`. Whole cells in the middle are only marked in `whole`, where a run of them
// begins and where it ends.
void count_range(const PoolAxis& keys, std::size_t first_key, std::size_t end_key,
                 std::span<std::uint64_t> cells, std::span<std::int64_t> whole) {
  const std::size_t first = std::max<std::size_t>(first_key, keys.first);
  if (first >= end_key) {
    return;
  }
  const std::size_t begin = first - keys.first;
  const std::size_t end = end_key - keys.first;
  const std::size_t first_cell = begin / keys.block;
  const std::size_t last_cell = (end - 1) / keys.block;
  if (first_cell == last_cell) {
    cells[first_cell] += end - begin;
    return;
  }
  cells[first_cell] += keys.end(first_cell) - begin;
  cells[last_cell] += end - keys.begin(last_cell);
  ++whole[first_cell + 1];
  --whole[last_cell];
}

// How many weights are visible under each cell of one row.
void count_visible(const Visibility& visibility, const PoolGrid& grid, std::size_t row,
                   std::span<std::uint64_t> cells) {
  const PoolAxis& queries = grid.queries;
  const PoolAxis& keys = grid.keys;
  const std::size_t n_tokens = keys.first + keys.size;
  std::fill(cells.begin(), cells.end(), 0);
  std::vector<std::int64_t> whole(cells.size() + 1);
  for (std::size_t i = queries.begin(row); i < queries.end(row); ++i) {
    const std::size_t query = queries.first + i;
    if (!visibility.mask().has_gaps()) {
      visibility.each_range(query, n_tokens, [&](std::size_t first_key, std::size_t end_key) {
        count_range(keys, first_key, end_key, cells, whole);
      });
      continue;
    }
    for (std::size_t col = 0; col < cells.size(); ++col) {
      cells[col] +=
          visibility.n_visible(query, keys.first + keys.begin(col), keys.first + keys.end(col));
    }
  }
  std::int64_t n_whole = 0;
  for (std::size_t col = 0; col < cells.size(); ++col) {
    n_whole += whole[col];
    cells[col] += static_cast<std::uint64_t>(n_whole) * (keys.end(col) - keys.begin(col));
  }
}

// Divides each weight by the largest of its row, like row_shares().
void divide_by_largest(std::span<float> row) {
  const float largest = row.empty() ? 0.0f : *std::max_element(row.begin(), row.end());
  if (largest > 0.0f) {
    for (float& weight : row) {
      weight /= largest;
    }
  }
}

}  // namespace

PooledPatterns::PooledPatterns(const std::vector<HeadId>& heads, const Visibility& visibility,
                               Pooling pooling, const PoolGrid& grid)
    : grid_(grid), pooling_(pooling) {
  const std::size_t count =
      checked_product({grid.queries.cells(), grid.keys.cells()}, "cells of a picture");
  visible_.reserve(count);
  std::vector<std::uint64_t> row_counts(grid.keys.cells());
  for (std::size_t row = 0; row < grid.queries.cells(); ++row) {
    count_visible(visibility, grid, row, row_counts);
    for (const std::uint64_t n : row_counts) {
      visible_.push_back(n > 0 ? 1 : 0);
    }
    if (pooling_.kind == PoolKind::kMean) {
      n_visible_.insert(n_visible_.end(), row_counts.begin(), row_counts.end());
    }
  }
  for (const HeadId head : heads) {
    heads_.try_emplace(
        head, HeadCells{empty_cells(count), empty_cells(pooling_.shares_of_row ? count : 0)});
  }
}

PooledPatterns::Cells PooledPatterns::empty_cells(std::size_t count) const {
  return pooling_.kind != PoolKind::kMean ? Cells{std::vector<float>(count), {}}
                                          : Cells{{}, std::vector<double>(count)};
}

double PooledPatterns::bytes(std::size_t n_heads, Pooling pooling, const PoolGrid& grid) noexcept {
  const double cells =
      static_cast<double>(grid.queries.cells()) * static_cast<double>(grid.keys.cells());
  const bool is_max = pooling.kind != PoolKind::kMean;
  const double kept = is_max ? sizeof(float) : sizeof(double);
  const double counts = is_max ? 0.0 : sizeof(std::uint64_t);
  const double matrices = pooling.shares_of_row ? 2.0 : 1.0;
  const double copy = matrices * sizeof(float) + sizeof(std::uint8_t);  // of one head, when drawn
  return cells *
         (static_cast<double>(n_heads) * kept * matrices + sizeof(std::uint8_t) + counts + copy);
}

bool PooledPatterns::wants(HeadId head) const {
  return heads_.contains(head);
}

void PooledPatterns::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                          ConstMatrix weights) {
  HeadCells& to = heads_.at(head);
  const auto& [queries, keys] = grid_;
  const std::size_t dropped =
      std::min(weights.cols, keys.first - std::min<std::size_t>(keys.first, first_key));
  const ConstMatrix kept = weights.col_block(dropped, weights.cols - dropped);
  const std::size_t key = first_key + dropped - keys.first;
  const std::size_t end_query = first_query + weights.rows;
  for (std::size_t query = std::max<std::size_t>(first_query, queries.first); query < end_query;) {
    const std::size_t cell_row = (query - queries.first) / queries.block;
    const std::size_t end = std::min(end_query, queries.first + queries.end(cell_row));
    const HeadCells row = cells_of(kept.row_block(query - first_query, end - query), key);
    const std::size_t first_cell = cell_row * keys.cells();
    const std::scoped_lock lock(locks_[cell_row % locks_.size()]);
    merge(row.values, first_cell, to.values);
    merge(row.shares, first_cell, to.shares);
    query = end;
  }
}

// The contribution of these rows to their row of cells.
PooledPatterns::HeadCells PooledPatterns::cells_of(ConstMatrix rows, std::size_t first_key) const {
  const std::size_t count = grid_.keys.cells();
  HeadCells cells{empty_cells(count), empty_cells(pooling_.shares_of_row ? count : 0)};
  const bool drops = grid_.keys.first > 0;
  if (!drops && !pooling_.shares_of_row) {
    add(rows, first_key, cells.values);
    return cells;
  }
  std::vector<float> changed;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    changed.assign(rows.row(i).begin(), rows.row(i).end());
    const ConstMatrix row{changed.data(), 1, changed.size(), changed.size()};
    if (drops) {
      scale_to_one(changed);
    }
    add(row, first_key, cells.values);
    if (pooling_.shares_of_row) {
      divide_by_largest(changed);
      add(row, first_key, cells.shares);
    }
  }
  return cells;
}

void PooledPatterns::add(ConstMatrix rows, std::size_t first_key, Cells& cells) const {
  if (pooling_.kind != PoolKind::kMean) {
    kernels::pool_largest(rows, first_key, grid_.keys.block, cells.largest);
  } else {
    kernels::pool_sums(rows, first_key, grid_.keys.block, cells.sums);
  }
}

void PooledPatterns::merge(const Cells& from, std::size_t first_cell, Cells& to) const {
  for (std::size_t i = 0; i < from.largest.size(); ++i) {
    to.largest[first_cell + i] = std::max(to.largest[first_cell + i], from.largest[i]);
  }
  for (std::size_t i = 0; i < from.sums.size(); ++i) {
    to.sums[first_cell + i] += from.sums[i];
  }
}

std::vector<float> PooledPatterns::result(const Cells& cells) const {
  if (pooling_.kind != PoolKind::kMean) {
    return cells.largest;
  }
  std::vector<float> means(cells.sums.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (n_visible_[i] > 0) {
      means[i] = static_cast<float>(cells.sums[i] / static_cast<double>(n_visible_[i]));
    }
  }
  return means;
}

PooledMatrix PooledPatterns::cells(HeadId head) const {
  const HeadCells& kept = heads_.at(head);
  PooledMatrix pooled{grid_.queries.cells(), grid_.keys.cells(), result(kept.values), {}, {}};
  if (pooling_.shares_of_row) {
    pooled.shares = result(kept.shares);
  }
  pooled.visible = visible_;
  return pooled;
}

namespace {

float largest_without_first(ConstMatrix weights, std::size_t first) {
  float largest = 0.0f;
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const std::span<const float> rest = weights.row(query).subspan(first);
    if (!rest.empty()) {
      largest = std::max(largest, scaled_by(sum_of(rest), *std::ranges::max_element(rest)));
    }
  }
  return largest;
}

}  // namespace

void LargestWeight::rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t first_key,
                         ConstMatrix weights) {
  float largest = 0.0f;
  if (drops_first_key_) {
    largest = largest_without_first(weights, first_key == 0 ? 1 : 0);
  } else {
    kernels::pool_largest(weights, 0, weights.cols, std::span(&largest, 1));
  }
  const std::scoped_lock lock(mutex_);
  largest_ = std::max(largest_, largest);
}

PoolAxis PoolAxis::at_most(std::size_t size, std::size_t most, const EntryNumbers& first) {
  PoolAxis axis{size, 1, first};
  const std::size_t apart = axis.apart();
  const std::size_t room = std::max<std::size_t>(most - std::min(apart, most), 1);
  axis.block = std::max<std::size_t>(divided_up(size - apart, room), 1);
  return axis;
}

std::string PoolAxis::range(std::size_t cell, const char* dash) const {
  const std::string first_number = name(cell);
  const std::size_t last = end(cell) - 1;
  return last == begin(cell) ? first_number : first_number + dash + std::to_string(first.of(last));
}

std::string_view pool_name(PoolKind kind) noexcept {
  return kind == PoolKind::kMean ? "mean" : "largest";
}

PoolKind parse_pool(std::string_view word) {
  if (const auto kind = choice_named(kPools, word)) {
    return *kind;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("pool: expected max or mean, found {}", in_quotes(word)));
}

}  // namespace attnviz
