// A sink that keeps of patterns only the cells of a picture. The largest weight of all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "attnviz/analysis/pool_grid.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"

namespace attnviz {

/// What a picture's cells are of the weights under them.
struct Pooling {
  PoolKind kind = PoolKind::kMax;
  bool shares_of_row = false;  // beside the weights: each over the largest of its row
};

/// The cells of one picture's panels, pooled from rows while these are in cache: what pool() makes
/// of the patterns themselves, but means are of float sums in steps of 2^-36. Memory: the cells,
/// whatever n_tokens is.
///
/// The result does not depend on the order of blocks, nor on the threads that hand them over, while
/// no cell has more than 2^14 from one row: always, unless dropout is above 0.9999.
class PooledPatterns : public PatternSink {
 public:
  /// For `heads`, without repeats, of weights that `visibility` lets through. `grid` cuts the
  /// panels' axes: those of all n_tokens tokens, or of those from grid.queries.first and
  /// grid.keys.first on; when keys are left out, what is left of each row is scaled to sum to 1.
  /// Throws Error{kUsage} when the size overflows, and std::bad_alloc.
  PooledPatterns(const std::vector<HeadId>& heads, const Visibility& visibility, Pooling pooling,
                 const PoolGrid& grid);

  /// What they take, about.
  static double bytes(std::size_t n_heads, Pooling pooling, const PoolGrid& grid) noexcept;

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  const PoolGrid& grid() const noexcept { return grid_; }

  /// The cells of one wanted head, once all of its rows have come.
  PooledMatrix cells(HeadId head) const;

 private:
  // One value a cell: the largest, or the sum of all.
  struct Cells {
    std::vector<float> largest;
    std::vector<double> sums;
  };
  struct HeadCells {
    Cells values;
    Cells shares;  // only where they are asked for
  };

  Cells empty_cells(std::size_t count) const;
  HeadCells cells_of(ConstMatrix rows, std::size_t first_key) const;
  void add(ConstMatrix rows, std::size_t first_key, Cells& cells) const;
  void merge(const Cells& from, std::size_t first_cell, Cells& to) const;
  std::vector<float> result(const Cells& cells) const;

  PoolGrid grid_;
  Pooling pooling_;
  std::map<HeadId, HeadCells> heads_;
  std::vector<std::uint8_t> visible_;     // whether there is a weight under a cell
  std::vector<std::uint64_t> n_visible_;  // how many there are; only for means
  std::array<std::mutex, 64> locks_;      // each for every 64th row of cells
};

/// Keeps nothing of the patterns but their largest weight, for scales that follow the data.
class LargestWeight : public PatternSink {
 public:
  /// With `drop_first_key`, rows are scaled to 1 without their first key, as by
  /// without_first_key().
  explicit LargestWeight(const std::vector<HeadId>& heads, bool drop_first_key = false)
      : heads_(heads.begin(), heads.end()), drops_first_key_(drop_first_key) {}

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Of all wanted heads; 0 before any row has come. Not while rows come.
  float value() const noexcept { return largest_; }

 private:
  std::set<HeadId> heads_;
  bool drops_first_key_;
  std::mutex mutex_;
  float largest_ = 0.0f;
};

}  // namespace attnviz
