// A sink that reduces patterns to the cells of a picture. The largest weight of all patterns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/analysis/analysis_requests.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/choices.h"

namespace attnviz {

// Coarser grids, whose cells each stand for several weights.

constexpr std::size_t divided_up(std::size_t size, std::size_t by) noexcept {
  return size / by + (size % by != 0 ? 1 : 0);
}

/// The numbers of the entries of an axis: consecutive numbers, or those of a list. Converts to the
/// number of the first entry.
class EntryNumbers {
 public:
  EntryNumbers(std::size_t first = 0) noexcept : first_(first) {}
  /// In rising order, at least one.
  explicit EntryNumbers(std::vector<std::size_t> list)
      : first_(list.front()),
        list_(std::make_shared<const std::vector<std::size_t>>(std::move(list))) {}

  /// For keys after a learned sink, which is the first entry and has no number.
  static EntryNumbers after_sink() noexcept { return EntryNumbers(kSink); }
  /// The numbers of `list` after a learned sink.
  static EntryNumbers after_sink(std::vector<std::size_t> list) {
    list.insert(list.begin(), kSink);
    return EntryNumbers(std::move(list));
  }
  bool has_sink() const noexcept { return first_ == kSink; }

  /// The number of an entry; for a sink, not a valid number.
  std::size_t of(std::size_t entry) const noexcept {
    return list_ ? (*list_)[entry] : first_ + entry;
  }
  /// The number as text; "s" for a sink.
  std::string name(std::size_t entry) const {
    return of(entry) == kSink ? "s" : std::to_string(of(entry));
  }
  operator std::size_t() const noexcept { return first_; }
  bool is_list() const noexcept { return list_ != nullptr; }

 private:
  static constexpr std::size_t kSink = static_cast<std::size_t>(-1);  // the next one is 0

  std::size_t first_;
  std::shared_ptr<const std::vector<std::size_t>> list_;
};

/// One axis of `size` entries divided into blocks of `block`; the last one may be shorter.
struct PoolAxis {
  std::size_t size = 0;
  std::size_t block = 1;
  EntryNumbers first = 0;  // the numbers of its entries

  /// The finest division of `size` entries into at most `most` cells. `most` 0 counts as 1.
  static PoolAxis at_most(std::size_t size, std::size_t most, const EntryNumbers& first = 0);

  /// How many entries always have a cell of their own: 1 for a learned sink.
  std::size_t apart() const noexcept { return first.has_sink() && size > 0 ? 1 : 0; }
  std::size_t cells() const noexcept { return apart() + divided_up(size - apart(), block); }
  std::size_t begin(std::size_t cell) const noexcept {
    return cell < apart() ? cell : apart() + (cell - apart()) * block;
  }
  std::size_t end(std::size_t cell) const noexcept {
    return cell < apart() ? cell + 1 : std::min(size, begin(cell) + block);
  }
  std::size_t cell_of(std::size_t entry) const noexcept {
    return entry < apart() ? entry : apart() + (entry - apart()) / block;
  }
  bool pooled() const noexcept { return block > 1; }
  /// The name of a cell's first entry.
  std::string name(std::size_t cell) const { return first.name(begin(cell)); }
  std::size_t largest_number() const noexcept { return first.of(size - 1); }

  /// The entries of a cell: "7", or "8<dash>11" for several.
  std::string range(std::size_t cell, const char* dash = "–") const;
};

/// How both axes of a picture's panels are divided.
struct PoolGrid {
  PoolAxis queries;
  PoolAxis keys;

  /// Whether both grids have the same cells, regardless of their names.
  bool same_cells(const PoolGrid& other) const noexcept {
    return queries.size == other.queries.size && queries.block == other.queries.block &&
           keys.size == other.keys.size && keys.block == other.keys.block;
  }
};

/// "largest" or "mean": how a cell summarizes the weights under it.
std::string_view pool_name(PoolKind kind) noexcept;

/// Parses one of kPools. Throws Error{kUsage} for any other word.
PoolKind parse_pool(std::string_view word);

/// The cells of one panel, [rows, cols].
struct PooledMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values;          // 0 if nothing is visible, NaN if a visible weight is NaN
  std::vector<float> shares;          // of the largest in the row; empty unless the scale needs
                                      // them
  std::vector<std::uint8_t> visible;  // whether a weight under the cell is visible

  float value(std::size_t row, std::size_t col) const { return values[row * cols + col]; }
  /// The number that the colour scale receives.
  float shown(std::size_t row, std::size_t col) const {
    return shares.empty() ? value(row, col) : shares[row * cols + col];
  }
  bool is_visible(std::size_t row, std::size_t col) const { return visible[row * cols + col] != 0; }
};

/// How a picture's cells summarize the weights under them.
struct Pooling {
  PoolKind kind = PoolKind::kMax;
  bool shares_of_row = false;  // also each weight divided by the largest of its row
};

/// The cells of one picture's panels, pooled from rows while these are in cache. They equal pool()
/// of the patterns themselves, except that means are of float sums in steps of 2^-36. Memory: the
/// cells alone, for any n_tokens.
///
/// The result does not depend on threads or on the order of blocks, as long as no cell gets more
/// than 2^14 from one row: always, unless dropout is above 0.9999.
class PooledPatterns : public PatternSink {
 public:
  /// For `heads`, without repeats, and the weights that `visibility` lets through. `grid` divides
  /// the panels' axes: all n_tokens tokens, or those from grid.queries.first and grid.keys.first
  /// on. If keys are left out, the rest of each row is scaled to sum to 1. Throws Error{kUsage} if
  /// the size overflows, and std::bad_alloc.
  PooledPatterns(const std::vector<HeadId>& heads, const Visibility& visibility, Pooling pooling,
                 const PoolGrid& grid);

  /// Roughly the bytes needed.
  static double bytes(std::size_t n_heads, Pooling pooling, const PoolGrid& grid) noexcept;

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  const PoolGrid& grid() const noexcept { return grid_; }

  /// The cells of one wanted head, once all of its rows have arrived.
  PooledMatrix cells(HeadId head) const;

 private:
  // One value per cell: the largest weight, or the sum of all.
  struct Cells {
    std::vector<float> largest;
    std::vector<double> sums;
  };
  struct HeadCells {
    Cells values;
    Cells shares;  // only if requested
  };

  Cells empty_cells(std::size_t count) const;
  HeadCells cells_of(ConstMatrix rows, std::size_t first_key) const;
  void add(ConstMatrix rows, std::size_t first_key, Cells& cells) const;
  void merge(const Cells& from, std::size_t first_cell, Cells& to) const;
  std::vector<float> result(const Cells& cells) const;

  PoolGrid grid_;
  Pooling pooling_;
  std::map<HeadId, HeadCells> heads_;
  std::vector<std::uint8_t> visible_;     // whether a weight under the cell is visible
  std::vector<std::uint64_t> n_visible_;  // how many are; only for means
  std::array<std::mutex, 64> locks_;      // one for every 64th row of cells
};

/// Keeps only the largest weight of the patterns, for scales that follow the data.
class LargestWeight : public PatternSink {
 public:
  /// With `drop_first_key`, rows are scaled to sum to 1 without their first key, as in
  /// without_first_key().
  explicit LargestWeight(const std::vector<HeadId>& heads, bool drop_first_key = false)
      : heads_(heads.begin(), heads.end()), drops_first_key_(drop_first_key) {}

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Over all wanted heads; 0 before any row has arrived. Must not be called while rows arrive.
  float value() const noexcept { return largest_; }

 private:
  std::set<HeadId> heads_;
  bool drops_first_key_;
  std::mutex mutex_;
  float largest_ = 0.0f;
};

}  // namespace attnviz
