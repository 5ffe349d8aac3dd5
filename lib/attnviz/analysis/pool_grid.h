// Coarser grids of cells, each of which stands for the weights under it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"

namespace attnviz {

/// What stands for several cells where a picture has room for one. kAuto: the largest, unless the
/// picture knows better (see Heatmap::are_thumbnails).
enum class PoolKind { kAuto, kMax, kMean };

/// As options and documents call them.
inline constexpr std::array kPools = {Choice{"auto", PoolKind::kAuto},
                                      Choice{"max", PoolKind::kMax},
                                      Choice{"mean", PoolKind::kMean}};

constexpr std::size_t divided_up(std::size_t size, std::size_t by) noexcept {
  return size / by + (size % by != 0 ? 1 : 0);
}

/// What the entries of an axis are called: numbers that follow each other, or those of a list.
/// Where one number is asked for, that of the first entry.
class EntryNumbers {
 public:
  EntryNumbers(std::size_t first = 0) noexcept : first_(first) {}
  /// In rising order, at least one.
  explicit EntryNumbers(std::vector<std::size_t> list)
      : first_(list.front()),
        list_(std::make_shared<const std::vector<std::size_t>>(std::move(list))) {}

  /// Those of keys behind a learned sink, which is the first entry and goes by no number.
  static EntryNumbers behind_sink() noexcept { return EntryNumbers(kSink); }
  /// `list` behind one.
  static EntryNumbers behind_sink(std::vector<std::size_t> list) {
    list.insert(list.begin(), kSink);
    return EntryNumbers(std::move(list));
  }
  bool has_sink() const noexcept { return first_ == kSink; }

  /// Of a sink no number of anything.
  std::size_t of(std::size_t entry) const noexcept {
    return list_ ? (*list_)[entry] : first_ + entry;
  }
  /// The number in words; a sink is "s".
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

/// One axis of `size` entries cut into blocks of `block`; the last one may be shorter.
struct PoolAxis {
  std::size_t size = 0;
  std::size_t block = 1;
  EntryNumbers first = 0;  // the number that the first entry goes by, and those behind it

  /// The finest cut of `size` entries into at most `most` cells. `most` 0 counts as 1.
  static PoolAxis at_most(std::size_t size, std::size_t most, const EntryNumbers& first = 0);

  /// Entries that are never cut together with others: a learned sink.
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
  /// What the first entry of a cell is called.
  std::string name(std::size_t cell) const { return first.name(begin(cell)); }
  std::size_t largest_number() const noexcept { return first.of(size - 1); }

  /// What a cell stands for: "7", or "8<dash>11" for several entries.
  std::string range(std::size_t cell, const char* dash = "–") const;
};

/// How both axes of a picture's panels are cut.
struct PoolGrid {
  PoolAxis queries;
  PoolAxis keys;

  /// Whether they cut into the same cells, whatever these are called.
  bool same_cells(const PoolGrid& other) const noexcept {
    return queries.size == other.queries.size && queries.block == other.queries.block &&
           keys.size == other.keys.size && keys.block == other.keys.block;
  }
};

/// "largest" or "mean": what each cell is of the weights under it.
std::string_view pool_name(PoolKind kind) noexcept;

/// One of kPools. Throws Error{kUsage} for another word.
PoolKind parse_pool(std::string_view word);

/// What is left of one panel, [rows, cols].
struct PooledMatrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values;          // 0 where nothing is visible, NaN where a visible weight is
  std::vector<float> shares;          // of the largest in its row; empty unless the scale asks
  std::vector<std::uint8_t> visible;  // whether anything visible lies under the cell

  float value(std::size_t row, std::size_t col) const { return values[row * cols + col]; }
  /// What the colour scale is asked for.
  float shown(std::size_t row, std::size_t col) const {
    return shares.empty() ? value(row, col) : shares[row * cols + col];
  }
  bool is_visible(std::size_t row, std::size_t col) const { return visible[row * cols + col] != 0; }
};

}  // namespace attnviz
